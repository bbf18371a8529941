#if os(Linux)
    import CBeagleNetCurl
    import Testing

    @testable import BeagleNetCurl

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    struct EpollPollerTests {
        /// libcurl silently closes the slower of two connections that it tries. The system soon reuses its descriptor
        /// for a resolver, and then another, while the poller still takes it for the closed connection's.
        @Test(arguments: 1...2) func socketThatReusesALostDescriptorIsPolled(_ takers: Int) throws {
            let multi = try #require(curl_multi_init())
            defer { curl_multi_cleanup(multi) }
            let poller = try EpollPoller(multi)
            let lost = try SocketPair()
            let number = lost.ours
            poller.opened(number, mayHang: false)
            watch(number, CURL_POLL_OUT, by: poller)
            watch(number, CURL_POLL_REMOVE, by: poller)

            let pairs = try (0..<takers).map { _ in try SocketPair() }
            for pair in pairs {
                watch(number, CURL_POLL_REMOVE, by: poller)
                #expect(dup2(pair.ours, number) == number)
                watch(number, CURL_POLL_IN, by: poller)
            }
            poller.lost(number)

            #expect(write(pairs[takers - 1].theirs, "x", 1) == 1)
            poller.wait(milliseconds: 10_000)
            #expect(poller.eventCount == 1)
            withExtendedLifetime((lost, pairs)) {}
        }

        /// A descriptor that isn't watched is left alone: it may belong to a file of the app.
        @Test func unwatchedReuseOfALostDescriptorIsIgnored() throws {
            let multi = try #require(curl_multi_init())
            defer { curl_multi_cleanup(multi) }
            let poller = try EpollPoller(multi)
            let lost = try SocketPair()
            let number = lost.ours
            poller.opened(number, mayHang: false)
            watch(number, CURL_POLL_IN, by: poller)
            watch(number, CURL_POLL_REMOVE, by: poller)
            let pair = try SocketPair()
            #expect(dup2(pair.ours, number) == number)
            poller.lost(number)
            #expect(write(pair.theirs, "x", 1) == 1)
            poller.wait(milliseconds: 0)
            #expect(poller.eventCount == 0)
            withExtendedLifetime((lost, pair)) {}
        }

        @Test func socketIsQuietAfterAWaitWithoutInput() throws {
            let multi = try #require(curl_multi_init())
            defer { curl_multi_cleanup(multi) }
            let poller = try EpollPoller(multi)
            let pair = try SocketPair()
            poller.opened(pair.ours, mayHang: false)
            watch(pair.ours, CURL_POLL_OUT, by: poller)
            poller.wait(milliseconds: 0)
            #expect(!poller.hadNoEvents(pair.ours), "the wait didn't poll for input")

            watch(pair.ours, CURL_POLL_IN, by: poller)
            #expect(!poller.hadNoEvents(pair.ours), "no wait has polled for input yet")
            poller.wait(milliseconds: 0)
            #expect(poller.hadNoEvents(pair.ours))

            watch(pair.ours, CURL_POLL_REMOVE, by: poller)
            #expect(write(pair.theirs, "x", 1) == 1)
            poller.wait(milliseconds: 0)
            #expect(!poller.hadNoEvents(pair.ours), "the socket has input, although libcurl no longer watches it")

            _ = poller.dispatchEvents()
            poller.wait(milliseconds: 0)
            #expect(!poller.hadNoEvents(pair.ours), "the socket is no longer polled")
            poller.closing(pair.ours)
        }

        @Test func noSocketIsQuietWhenAWaitReportsTooManyEvents() throws {
            let multi = try #require(curl_multi_init())
            defer { curl_multi_cleanup(multi) }
            let poller = try EpollPoller(multi)
            let pairs = try (0..<300).map { _ in try SocketPair() }
            for pair in pairs {
                poller.opened(pair.ours, mayHang: false)
                watch(pair.ours, CURL_POLL_IN, by: poller)
                #expect(write(pair.theirs, "x", 1) == 1)
            }
            poller.wait(milliseconds: 0)
            #expect(pairs.allSatisfy { !poller.hadNoEvents($0.ours) })
        }

        private func watch(_ socket: Int32, _ events: Int32, by poller: EpollPoller) {
            poller.watch(socket, events)
            poller.applyChanges()
        }
    }
#endif
