import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// Buffering of unread results.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionRunTests {
    /// An open subscription with scripted results that have all arrived before the test reads them.
    private struct Fixture {
        let source: Source
        var events: GraphQLSubscription<JSONValue>.Events.AsyncIterator
        let client: any NetworkClient

        init(
            _ buffering: GraphQLBuffering,
            _ end: NetworkError? = nil,
            _ play: @escaping Source.Play
        ) async throws {
            let dependencies = BeagleDependencies()
            dependencies.logger = MemoryLogger()
            let source = Source(end: end, play)
            self.source = source
            dependencies.interceptors.insert(source, at: 0)
            client = dependencies.networkClient
            let request = GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription)
            let endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:9/")))
            events = try client.subscribe(to: request, at: endpoint, buffering: buffering).events.makeAsyncIterator()
            let first = try await events.next()
            #expect(first?.words == "open")
            source.start.continuation.yield()
            for await _ in source.played.stream { break }
        }

        /// Reads the remaining events and the error, if there is one.
        mutating func rest() async -> (events: [String], error: NetworkError?) {
            var words: [String] = []
            do throws(NetworkError) {
                while let event = try await events.next() { words.append(event.words) }
                return (words, nil)
            } catch {
                return (words, error)
            }
        }
    }

    /// Takes the place of a server: opens the subscription, waits, plays the script and ends.
    private final class Source: Interceptor {
        typealias Play = @Sendable (_ emit: Emit) -> Void

        let start = AsyncStream.makeStream(of: Void.self)
        let played = AsyncStream.makeStream(of: Void.self)
        let ended = AsyncStream.makeStream(of: Bool.self)
        private let isEnding: Bool
        private let end: NetworkError?
        private let play: Play

        /// - Parameter isEnding: Whether the subscription ends by itself.
        init(isEnding: Bool = true, end: NetworkError?, _ play: @escaping Play) {
            (self.isEnding, self.end, self.play) = (isEnding, end, play)
        }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            emit(.notice(.open))
            for await _ in start.stream { break }
            play(emit)
            played.continuation.yield()
            // Reports whether the operation was cancelled meanwhile.
            ended.continuation.yield(Task.isCancelled)
            if let end { throw end }
            return NetworkOperation.Result(.connection(.ended))
        }
    }

    private static let lost = NetworkError(.network, during: .body, "lost")

    private static func counts(_ numbers: ClosedRange<Int>, _ emit: Interceptor.Emit) {
        for number in numbers { emit(.count(number)) }
    }

    private func words(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { #"{"count":\#($0)}"# } }

    @Test(arguments: [GraphQLBuffering.failing(5), .newest(5), .oldest(5)])
    func eventsUpToTheLimitAreKeptInOrder(buffering: GraphQLBuffering) async throws {
        var fixture = try await Fixture(buffering) { emit in
            Self.counts(1...2, emit)
            emit(.notice(.interrupted(Self.lost, wait: .seconds(2))))
            emit(.notice(.open))
            Self.counts(3...5, emit)
            emit(.notice(.interrupted(Self.lost, wait: .seconds(3))))
        }
        let rest = await fixture.rest()
        #expect(
            rest.events == words(1...2) + ["lost: network, 2000", "open"] + words(3...5) + ["lost: network, 3000"]
        )
        #expect(rest.error == nil)
        #expect(try await fixture.events.next() == nil)
    }

    @Test func failingBufferThrowsAfterTheKeptResults() async throws {
        var fixture = try await Fixture(.failing(3)) { emit in Self.counts(1...50, emit) }
        let rest = await fixture.rest()
        #expect(rest.events == words(1...3))
        #expect(rest.error?.kind == .tooLarge)
        #expect(rest.error?.message == "the subscription has more than 3 unread results")
        #expect(try await fixture.events.next() == nil)
        for await isCancelled in fixture.source.ended.stream {
            #expect(isCancelled)
            break
        }
    }

    @Test func failingBufferThrowsOverTheByteLimit() async throws {
        var fixture = try await Fixture(.failing(100, maxBytes: 35)) { emit in Self.counts(1...9, emit) }
        let rest = await fixture.rest()
        #expect(rest.events.count == 35 / Self.byteCount)
        #expect(rest.events == words(1...rest.events.count))
        #expect(rest.error?.kind == .tooLarge)
        #expect(rest.error?.message == "the subscription has more than 35 bytes of unread results")
        #expect(rest.error?.advice?.contains("maxBytes") == true)
    }

    @Test func byteLimitDropsResults() async throws {
        let room = 3 * Self.byteCount
        var newest = try await Fixture(.newest(100, maxBytes: room)) { emit in Self.counts(1...9, emit) }
        #expect(await newest.rest().events == ["missed 6"] + words(7...9))
        var oldest = try await Fixture(.oldest(100, maxBytes: room)) { emit in Self.counts(1...9, emit) }
        #expect(await oldest.rest().events == words(1...3) + ["missed 6"])
    }

    @Test(arguments: [0, .min]) func oneResultOfAnySizeIsKept(maxBytes: Int) async throws {
        var fixture = try await Fixture(.newest(100, maxBytes: maxBytes)) { emit in Self.counts(1...3, emit) }
        #expect(await fixture.rest().events == ["missed 2"] + words(3...3))
    }

    /// The size of a result with one digit.
    private static let byteCount = NetworkOperation.Result.count(1).response?.data.count ?? 0

    @Test func newestBufferDropsAndCountsTheOldestResults() async throws {
        var fixture = try await Fixture(.newest(3)) { emit in
            Self.counts(1...4, emit)
            emit(.notice(.interrupted(Self.lost, wait: .zero)))
            Self.counts(5...10, emit)
            emit(.notice(.open))
        }
        let rest = await fixture.rest()
        #expect(rest.events == ["missed 7"] + words(8...10) + ["open"])
        #expect(rest.error == nil)
    }

    @Test func oldestBufferDropsAndCountsNewResults() async throws {
        var fixture = try await Fixture(.oldest(3)) { emit in
            Self.counts(1...7, emit)
            emit(.notice(.interrupted(Self.lost, wait: .zero)))
            Self.counts(8...9, emit)
        }
        let rest = await fixture.rest()
        #expect(rest.events == words(1...3) + ["missed 6", "lost: network, 0"])
        #expect(rest.error == nil)
    }

    @Test func freedRoomIsUsedForNewResults() async throws {
        let go = AsyncStream.makeStream(of: Void.self)
        let second = SecondSource(go.stream)
        let dependencies = BeagleDependencies()
        dependencies.logger = MemoryLogger()
        dependencies.interceptors.insert(second, at: 0)
        let client = dependencies.networkClient
        let endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:9/")))
        let request = GraphQLRequest(query: SubscriptionFixture.query, kind: .subscription)
        var events = try client.subscribe(to: request, at: endpoint, buffering: .oldest(2)).events.makeAsyncIterator()
        #expect(try await events.next()?.words == "open")
        func play() async {
            go.continuation.yield()
            for await _ in second.played.stream { break }
        }
        await play()
        #expect(try await events.next()?.words == #"{"count":1}"#)
        await play()
        var words: [String] = []
        while let event = try await events.next() { words.append(event.words) }
        #expect(words == [#"{"count":2}"#, "missed 2", #"{"count":5}"#, "missed 3"])
    }

    /// Emits four results at each signal, twice.
    private final class SecondSource: Interceptor {
        let played = AsyncStream.makeStream(of: Void.self)
        private let go: AsyncStream<Void>

        init(_ go: AsyncStream<Void>) {
            self.go = go
        }

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            emit(.notice(.open))
            for round in 0..<2 {
                for await _ in go { break }
                SubscriptionRunTests.counts(round * 4 + 1...round * 4 + 4, emit)
                played.continuation.yield()
            }
            return NetworkOperation.Result(.connection(.ended))
        }
    }

    @Test(arguments: [GraphQLBuffering.failing(2), .newest(2), .oldest(2)])
    func repeatedConnectionEventsDoNotFillTheBuffer(buffering: GraphQLBuffering) async throws {
        var fixture = try await Fixture(buffering, Self.lost) { emit in
            for round in 1...10_000 {
                emit(.notice(.interrupted(Self.lost, wait: .seconds(round))))
                emit(.notice(.open))
            }
        }
        let rest = await fixture.rest()
        #expect(rest.events == ["lost: network, 9999000", "open", "lost: network, 10000000", "open"])
        #expect(rest.error?.kind == .network)
    }

    @Test(arguments: [GraphQLBuffering.newest(2), .oldest(2)])
    func droppedResultsAreReleased(buffering: GraphQLBuffering) async throws {
        let alive = Lock(0)
        var fixture = try await Fixture(buffering) { emit in
            for number in 1...2_000 {
                emit(.count(number, Tracked(alive)))
                emit(.notice(.interrupted(Self.lost, wait: .zero)))
                emit(.notice(.open))
            }
        }
        // The coalescer keeps the last result, too.
        #expect(alive.withLock { $0 } <= 3)
        let rest = await fixture.rest()
        #expect(rest.events.contains("missed 1998"))
        #expect(rest.events.count <= 16)
    }

    @Test(arguments: [0, -3]) func nonpositiveLimitKeepsOneResult(limit: Int) async throws {
        var fixture = try await Fixture(.failing(limit)) { emit in Self.counts(1...3, emit) }
        let rest = await fixture.rest()
        #expect(rest.events == words(1...1))
        #expect(rest.error?.message == "the subscription has more than 1 unread results")
    }

    @Test func resultsBeforeTheErrorAreDeliveredFirst() async throws {
        var fixture = try await Fixture(.failing(9), Self.lost) { emit in Self.counts(1...2, emit) }
        let rest = await fixture.rest()
        #expect(rest.events == words(1...2))
        #expect(rest.error?.kind == .network)
    }
}

/// Counts the live instances.
private final class Tracked: Sendable {
    private let count: Lock<Int>

    init(_ count: Lock<Int>) {
        self.count = count
        count.withLock { $0 += 1 }
    }

    deinit {
        count.withLock { $0 -= 1 }
    }
}

extension NetworkOperation.Result {
    fileprivate static func notice(_ connection: Connection) -> Self { Self(.connection(connection), hasNext: true) }

    /// Returns a result with this number.
    ///
    /// - Parameter tracked: An object that is released with the result.
    fileprivate static func count(_ number: Int, _ tracked: AnyObject? = nil) -> Self {
        var response = NetworkResponse(response: HTTPResponse(status: .ok))
        let text = Array(#"{"data":{"count":\#(number)}}"#.utf8)
        if let tracked {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: text.count, alignment: 1)
            bytes.copyMemory(from: text, byteCount: text.count)
            response.data = Data(
                bytesNoCopy: bytes,
                count: text.count,
                deallocator: .custom { bytes, _ in
                    withExtendedLifetime(tracked) { bytes.deallocate() }
                }
            )
        } else {
            response.data = Data(text)
        }
        return Self(.response(response), hasNext: true)
    }
}
