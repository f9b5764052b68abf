// FuseBridge
