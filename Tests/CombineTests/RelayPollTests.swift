import BeagleNet
import BeagleNetCombine
import BeagleNetHTTP
import BeagleNetTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RelayPollTests {
    /// Responds with the number of the request, and with status 404 from `last` on.
    private func fixture(refusingFrom last: Int = .max) throws -> RelayFixture {
        let count = Lock(0)
        let fixture = try RelayFixture { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number >= last { return .response(404, ["Content-Type": "text/plain"], "gone") }
            return .response(200, ["Content-Type": "application/json"], #"{"data":{"n":\#(number)}}"#)
        }
        // The deadline uses the same clock.
        fixture.dependencies.interceptors.removeAll { $0 is DeadlineInterceptor }
        return fixture
    }

    /// Returns the values and the error that ended them.
    private func poll(_ fixture: RelayFixture, _ config: CacheConfig) -> Task<
        (texts: [String], error: NetworkError?), Never
    > {
        Task {
            var texts: [String] = []
            do {
                for try await data in fixture.publisher(.posts, [:], config).values {
                    texts.append(String(decoding: data, as: UTF8.self))
                }
                return (texts, nil)
            } catch {
                return (texts, NetworkError(wrapping: error))
            }
        }
    }

    @Test func operationIsPolledUntilAnError() async throws {
        let policies = Lock<[RequestPolicy]>([])
        let fixture = try fixture(refusingFrom: 4)
        fixture.dependencies.interceptors.insert(
            Spy { operation in policies.withLock { $0.append(operation.policy) } },
            at: 0
        )
        let polling = poll(fixture, CacheConfig(poll: 2.5))
        for count in 1...3 {
            await fixture.clock.waitForSleepers(1)
            #expect(fixture.server.requests.count == count)
            #expect(fixture.clock.nextWait == .milliseconds(2_500))
            fixture.clock.advance(by: .milliseconds(2_500))
        }
        let (texts, error) = await polling.value
        #expect(error?.kind == .status)
        #expect(texts == (1...3).map { #"{"data":{"n":\#($0)}}"# })
        #expect(policies.withLock { $0 } == [.cacheFirst, .networkOnly, .networkOnly, .networkOnly])
        #expect(fixture.clock.nextWait == nil)
    }

    @Test func storedResponseIsUsedOnlyForTheFirstPoll() async throws {
        var fixture = try fixture(refusingFrom: 3)
        fixture.network.cache = RelayResponseCache(size: 10, ttl: .seconds(60)) { Date(timeIntervalSince1970: 1) }
        _ = try await fixture.texts()
        let polling = poll(fixture, CacheConfig(poll: 1))
        for _ in 0..<2 {
            await fixture.clock.waitForSleepers(1)
            fixture.clock.advance(by: .seconds(1))
        }
        let stored = #"{"data":{"n":1},"extensions":{"cacheTimestamp":1000}}"#
        #expect(await polling.value.texts == [stored, #"{"data":{"n":2}}"#])
    }

    @Test func cancellingEndsTheWait() async throws {
        let fixture = try fixture()
        let held = fixture.publisher(.posts, [:], CacheConfig(poll: 1)).sink { _ in
        } receiveValue: { _ in
        }
        await fixture.clock.waitForSleepers(1)
        held.cancel()
        #expect(fixture.clock.nextWait == nil)
        fixture.clock.advance(by: .seconds(10))
        #expect(fixture.server.requests.count == 1)
    }

    @Test(arguments: [0, -1, .nan, .infinity])
    func invalidPollIntervalIsABadConfiguration(poll: Double) async throws {
        let fixture = try fixture()
        #expect(try await fixture.failure(.posts, CacheConfig(poll: poll)).kind == .badConfiguration)
        #expect(fixture.server.requests.isEmpty)
    }

    @Test func pollingAnUploadIsABadConfiguration() async throws {
        let fixture = try fixture()
        let publisher = fixture.network.execute(
            request: .like,
            variables: [:],
            cacheConfig: CacheConfig(poll: 1),
            uploadables: ["file": FormFile(Data(), filename: "f")]
        )
        let error = await #expect(throws: NetworkError.self) { try await publisher.texts() }
        #expect(error?.kind == .badConfiguration)
        #expect(fixture.server.requests.isEmpty)
    }
}
