// DeviceLifecycle
