// One process that lives in several homes at once, as tests do that run side by side.

#if os(Linux)
    import ContainerFoundation

    extension Notes {
        /// In each home saves a note and listens for its device's lock; ends when every device was locked.
        static func live(in homes: [String]) async {
            await withTaskGroup(of: Void.self) { group in
                for home in homes {
                    group.addTask { await ContainerHome.$current.withValue(home) { await listen() } }
                }
            }
        }

        @MainActor private static func listen() async {
            let home = NSHomeDirectory()
            let (news, heard) = AsyncStream.makeStream(of: String?.self)
            let observer = NotificationCenter.default.addObserver(
                forName: UIApplication.protectedDataWillBecomeUnavailableNotification,
                object: UIApplication.shared, queue: nil
            ) { _ in
                // The observer runs in the home of the device that was locked.
                heard.yield(ContainerHome.current)
            }
            let saved = Result { try storage.save(home, secretly: "whose") }
            tell("saved", (try? saved.get())?.path ?? saved.code)
            fflush(nil)
            for await place in news {
                tell("\(home) heard of", place)
                fflush(nil)
                break
            }
            NotificationCenter.default.removeObserver(observer)
        }
    }
#endif
