// BackingStore
