// BundleSeal
