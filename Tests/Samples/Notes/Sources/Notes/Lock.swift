// Hearing of the device's lock, and asking for it.

import ContainerFoundation

#if canImport(UIKit)
    import UIKit
#endif

#if os(Linux) || canImport(UIKit)
    extension Notes {
        @MainActor static func state() {
            tell("available", UIApplication.shared.isProtectedDataAvailable)
        }

        /// Tells what it hears, up to the first unlock.
        @MainActor static func follow() async {
            let names = [
                UIApplication.protectedDataWillBecomeUnavailableNotification,
                UIApplication.protectedDataDidBecomeAvailableNotification,
            ]
            let (news, heard) = AsyncStream.makeStream(of: Notification.Name.self)
            let center = NotificationCenter.default
            let observers = names.map { name in
                center.addObserver(forName: name, object: UIApplication.shared, queue: nil) { notification in
                    MainActor.assumeIsolated { _ = heard.yield(name) }
                }
            }
            tell("following", true)
            fflush(nil)
            for await name in news {
                tell("heard", name.rawValue)
                fflush(nil)
                if name == names[1] { break }
            }
            for observer in observers { center.removeObserver(observer) }
        }

        /// Tells what the app's delegate is told, up to the first unlock.
        @MainActor static func beTold() async {
            let (news, told) = AsyncStream.makeStream(of: String.self)
            let delegate = NotesDelegate { told.yield($0) }
            UIApplication.shared.delegate = delegate
            tell("following", true)
            fflush(nil)
            for await word in news {
                tell("told", word)
                fflush(nil)
                if word == "available" { break }
            }
            tell("is its delegate", UIApplication.shared.delegate === delegate)
        }
    }

    final class NotesDelegate: UIResponder, UIApplicationDelegate {
        private let told: (String) -> Void

        init(_ told: @escaping (String) -> Void) {
            self.told = told
            super.init()
        }

        func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) {
            told("unavailable")
        }

        func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
            told("available")
        }
    }
#else
    extension Notes {
        @MainActor static func state() {}
        static func follow() async {}
        static func beTold() async {}
    }
#endif
