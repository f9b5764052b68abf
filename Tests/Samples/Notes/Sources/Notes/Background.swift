// The way into the background and back, with a task that is finished there.

import ContainerFoundation

#if canImport(UIKit)
    import UIKit
#endif

#if os(Linux) || canImport(UIKit)
    extension Notes {
        /// Tells what it hears, until it is active again. In the background it begins a task, and ends that when its
        /// time expires.
        @MainActor static func live() async {
            let names = [
                UIApplication.willResignActiveNotification, UIApplication.didEnterBackgroundNotification,
                UIApplication.willEnterForegroundNotification, UIApplication.didBecomeActiveNotification,
            ]
            let application = UIApplication.shared
            let (news, heard) = AsyncStream.makeStream(of: Notification.Name.self)
            let center = NotificationCenter.default
            let observers = names.map { name in
                center.addObserver(forName: name, object: application, queue: nil) { _ in
                    MainActor.assumeIsolated {
                        tell("heard", name.rawValue)
                        tell("time is limited", application.backgroundTimeRemaining < .greatestFiniteMagnitude)
                        fflush(nil)
                        if name == UIApplication.didEnterBackgroundNotification { save(in: application) }
                        _ = heard.yield(name)
                    }
                }
            }
            tell("following", true)
            fflush(nil)
            for await name in news where name == names[3] { break }
            tell("is active", application.applicationState == .active)
            for observer in observers { center.removeObserver(observer) }
        }

        /// Begins a task, and stands still at once until it is told to go on: the task counts all the same.
        @MainActor static func beginTask() {
            tell("process", getpid())
            fflush(nil)
            let task = UIApplication.shared.beginBackgroundTask(withName: "export")
            raise(SIGSTOP)
            UIApplication.shared.endBackgroundTask(task)
            tell("ended", task != .invalid)
        }

        @MainActor private static var task = UIBackgroundTaskIdentifier.invalid

        @MainActor private static func save(in application: UIApplication) {
            task = application.beginBackgroundTask(withName: "save") {
                tell("expired", task != .invalid)
                fflush(nil)
                application.endBackgroundTask(task)
            }
        }
    }
#else
    extension Notes {
        static func live() async {}
        static func beginTask() {}
    }
#endif
