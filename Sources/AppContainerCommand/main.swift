print("appcontainer")
