// AppContainer
