#if os(Linux)
    import BeagleNetHTTP
    import CBeagleNetCurl

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// An epoll poller that updates its registrations as rarely as possible: a socket that we opened stays registered
    /// while libcurl doesn't need it, and is removed only when an unwanted event occurs. This saves two system calls
    /// per request.
    ///
    /// `@exclusivity(unchecked)` is safe because these properties are accessed only on the loop's thread, by code that
    /// calls nothing that could re-enter them.
    final class EpollPoller: Poller {
        private static let eventCount: Int32 = 256

        private struct Socket {
            /// The `CURL_POLL_` bits that libcurl waits for.
            var wanted: UInt8 = 0
            /// The bits that are registered with epoll.
            var registered: UInt8 = 0
            /// Whether we opened it, so that we also see it closed; resolvers have sockets of their own.
            var isOurs = false
            var isChanged = false
            /// Whether libcurl may hang on it.
            var mayHang = false
            /// Whether libcurl has handed it over to us.
            var isOwn = false
            /// The look that last found an event on it.
            var readyAt: UInt64 = 0
            /// The first look that covers its input under the current registration.
            var seenSince = UInt64.max
        }

        private let multi: UnsafeMutableRawPointer
        private let epoll: Int32
        private let alarm: Int32
        /// The event buffer, owned by this object and accessed only on the loop's thread.
        private let events: UnsafeMutablePointer<epoll_event>
        /// The number of events found by the last wait and not processed yet.
        @exclusivity(unchecked) private(set) var eventCount: Int32 = 0
        @exclusivity(unchecked) private(set) var pollCount: UInt64 = 0
        /// Whether the last look found all pending events.
        @exclusivity(unchecked) private(set) var hasFoundAll = false
        @exclusivity(unchecked) private var sockets: [Socket] = Array(repeating: Socket(), count: 256)
        @exclusivity(unchecked) private var changed: [Int32] = []
        @exclusivity(unchecked) private var ready: [Int32] = []
        private var running: Int32 = 0
        private let watchdog = Watchdog()

        init(_ multi: UnsafeMutableRawPointer) throws(NetworkError) {
            self.multi = multi
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            events = .allocate(capacity: Int(Self.eventCount))
            // Edge-triggered: the counter is never read, so a wake-up costs one call and receiving it costs none.
            guard epoll >= 0, alarm >= 0,
                beagle_epoll_ctl(epoll, EPOLL_CTL_ADD, alarm, EPOLLIN.rawValue | EPOLLET.rawValue) == 0
            else {
                throw NetworkError(
                    .other,
                    during: .queue,
                    "cannot create an epoll instance for the event loop: \(String(cString: strerror(errno)))",
                    advice: "increase the limit of open files (ulimit -n)"
                )
            }
        }

        deinit {
            if epoll >= 0 { closeDescriptor(epoll) }
            if alarm >= 0 { closeDescriptor(alarm) }
            events.deallocate()
        }

        let watchesSockets = true
        func close() {}

        func wake() {
            eventfd_write(alarm, 1)
        }

        func watch(_ socket: Int32, _ what: Int32) {
            makeRoom(for: socket)
            let index = Int(socket)
            sockets[index].wanted = what == CURL_POLL_REMOVE ? 0 : UInt8(truncatingIfNeeded: what)
            if !sockets[index].isOurs {
                apply(socket)
            } else if sockets[index].wanted != 0, !sockets[index].isChanged {
                sockets[index].isChanged = true
                changed.append(socket)
            }
        }

        func opened(_ socket: Int32, mayHang: Bool) {
            makeRoom(for: socket)
            let isChanged = sockets[Int(socket)].isChanged
            sockets[Int(socket)] = Socket(isOurs: true, isChanged: isChanged, mayHang: mayHang)
            if mayHang { watchdog.watch(socket) }
        }

        func own(_ socket: Int32) {
            makeRoom(for: socket)
            sockets[Int(socket)].isOwn = true
        }

        func takeReady() -> [Int32] {
            defer { ready.removeAll(keepingCapacity: true) }
            return ready
        }

        /// Unregisters the socket. The kernel would do so on closing it, but not if a fork has duplicated it.
        func closing(_ socket: Int32) {
            guard Int(socket) < sockets.count else { return }
            if sockets[Int(socket)].mayHang { watchdog.unwatch(socket) }
            if sockets[Int(socket)].registered != 0 { _ = beagle_epoll_ctl(epoll, EPOLL_CTL_DEL, socket, 0) }
            sockets[Int(socket)] = Socket(isChanged: sockets[Int(socket)].isChanged)
        }

        func lost(_ socket: Int32) {
            let wanted = Int(socket) < sockets.count ? sockets[Int(socket)].wanted : 0
            closing(socket)
            if wanted != 0 { watch(socket, Int32(wanted)) }
        }

        func applyChanges() {
            for socket in changed {
                sockets[Int(socket)].isChanged = false
                apply(socket)
            }
            changed.removeAll(keepingCapacity: true)
        }

        func wait(milliseconds: Int32) {
            eventCount = epoll_wait(epoll, events, Self.eventCount, milliseconds)
            pollCount += 1
            // If the buffer was full, there may be more events.
            hasFoundAll = (0..<Self.eventCount).contains(eventCount)
            for index in 0..<max(0, Int(eventCount)) {
                let socket = Int(beagle_epoll_fd(events + index))
                if socket < sockets.count { sockets[socket].readyAt = pollCount }
            }
        }

        func hadNoEvents(_ socket: Int32) -> Bool {
            guard hasFoundAll, Int(socket) < sockets.count else { return false }
            let state = sockets[Int(socket)]
            return state.seenSince <= pollCount && state.readyAt != pollCount
        }

        var hasFound: Bool { eventCount > 0 }
        let maxEventsPerPoll = Int(EpollPoller.eventCount)

        func dispatchEvents() -> [Int32] {
            guard eventCount > 0 else { return [] }
            defer { eventCount = 0 }
            var shut: [Int32] = []
            for index in 0..<Int(eventCount) {
                let socket = beagle_epoll_fd(events + index)
                if socket == alarm { continue }
                let state = Int(socket) < sockets.count ? sockets[Int(socket)] : Socket()
                if state.isOurs && state.wanted == 0 {
                    apply(socket)
                } else if state.isOwn {
                    ready.append(socket)
                } else if state.mayHang {
                    watchdog.enter(socket, at: EventLoop.clock())
                    curl_multi_socket_action(multi, socket, selection(events[index].events), &running)
                    shut += watchdog.leave()
                } else {
                    curl_multi_socket_action(multi, socket, selection(events[index].events), &running)
                }
            }
            return shut
        }

        func timerExpired() -> [Int32] {
            watchdog.enter(nil, at: EventLoop.clock())
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
            return watchdog.leave()
        }

        private func closeDescriptor(_ descriptor: Int32) {
            #if canImport(Glibc)
                _ = Glibc.close(descriptor)
            #else
                _ = Musl.close(descriptor)
            #endif
        }

        private func selection(_ bits: UInt32) -> Int32 {
            var selection: Int32 = 0
            if bits & EPOLLIN.rawValue != 0 { selection |= CURL_CSELECT_IN }
            if bits & EPOLLOUT.rawValue != 0 { selection |= CURL_CSELECT_OUT }
            if bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { selection |= CURL_CSELECT_ERR }
            return selection
        }

        /// Updates epoll to the events that libcurl wants. A socket that we didn't open may have been closed and its
        /// number reused without our knowledge, hence the second attempts.
        private func apply(_ socket: Int32) {
            let state = sockets[Int(socket)]
            guard state.wanted != state.registered else { return }
            var bits: UInt32 = 0
            if state.wanted & UInt8(CURL_POLL_IN) != 0 { bits |= EPOLLIN.rawValue }
            if state.wanted & UInt8(CURL_POLL_OUT) != 0 { bits |= EPOLLOUT.rawValue }
            if state.wanted == 0 {
                _ = beagle_epoll_ctl(epoll, EPOLL_CTL_DEL, socket, 0)
            } else if state.registered == 0 {
                if beagle_epoll_ctl(epoll, EPOLL_CTL_ADD, socket, bits) != 0, errno == EEXIST {
                    _ = beagle_epoll_ctl(epoll, EPOLL_CTL_MOD, socket, bits)
                }
            } else if beagle_epoll_ctl(epoll, EPOLL_CTL_MOD, socket, bits) != 0, errno == ENOENT {
                _ = beagle_epoll_ctl(epoll, EPOLL_CTL_ADD, socket, bits)
            }
            sockets[Int(socket)].registered = state.wanted
            let (saw, sees) = (state.registered & UInt8(CURL_POLL_IN) != 0, bits & EPOLLIN.rawValue != 0)
            if saw != sees { sockets[Int(socket)].seenSince = sees ? pollCount + 1 : .max }
        }

        private func makeRoom(for socket: Int32) {
            let missing = Int(socket) + 1 - sockets.count
            guard missing > 0 else { return }
            sockets.append(contentsOf: repeatElement(Socket(), count: max(missing, sockets.count)))
        }
    }
#endif
