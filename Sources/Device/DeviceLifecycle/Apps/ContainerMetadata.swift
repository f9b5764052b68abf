// The property list by which a phone's container manager knows a data container.

import BackingStore
import SandboxModel

/// The content of `.com.apple.mobile_container_manager.metadata.plist`, with the keys of a phone's.
struct ContainerMetadata {
    let app: ContainerIdentifier
    let uuid: ContainerUUID
    let owner: ContainerOwner
    /// The class that the container was made with.
    let protection: ProtectionClass
    /// Whether it is an app extension's.
    var isExtension = false
    /// The identifier of the device, which stands for the persona of its one user.
    let device: String

    /// The number by which Darwin knows the class (`PROTECTION_CLASS_A` is 1); 0 where no entitlement chose one.
    private var classNumber: Int {
        switch protection {
        case .complete: 1
        case .completeUnlessOpen: 2
        case .completeUntilFirstUserAuthentication: 0
        case .none: 4
        }
    }

    /// No text in it holds a character that XML knows.
    var xml: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>MCMMetadataActiveDPClass</key>
        \t<integer>\(classNumber)</integer>
        \t<key>MCMMetadataContentClass</key>
        \t<integer>\(isExtension ? 4 : 2)</integer>
        \t<key>MCMMetadataCreator</key>
        \t<string>com.apple.installd</string>
        \t<key>MCMMetadataIdentifier</key>
        \t<string>\(app.text)</string>
        \t<key>MCMMetadataInfo</key>
        \t<dict>
        \t\t<key>com.apple.MobileInstallation.ContentProtectionClass</key>
        \t\t<integer>\(classNumber)</integer>
        \t</dict>
        \t<key>MCMMetadataSchemaVersion</key>
        \t<integer>1</integer>
        \t<key>MCMMetadataUUID</key>
        \t<string>\(uuid.text)</string>
        \t<key>MCMMetadataUserIdentity</key>
        \t<dict>
        \t\t<key>personaUniqueString</key>
        \t\t<string>\(device)</string>
        \t\t<key>posixGID</key>
        \t\t<integer>\(owner.group)</integer>
        \t\t<key>posixUID</key>
        \t\t<integer>\(owner.user)</integer>
        \t\t<key>type</key>
        \t\t<integer>0</integer>
        \t\t<key>version</key>
        \t\t<integer>2</integer>
        \t</dict>
        \t<key>MCMMetadataVersion</key>
        \t<integer>6</integer>
        </dict>
        </plist>

        """
    }
}
