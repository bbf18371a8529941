import BeagleNet
@testable import BeagleNetReplay
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReplayMissTests {
    private func miss(
        _ entries: [LogEntry],
        _ message: TransferRequest,
        _ rules: [ReplayTransport.MatchRule] = .standard
    ) async throws
        -> (
            NetworkError, ReplayTransport.Miss
        )
    {
        do throws(NetworkError) {
            _ = try await ReplayTransport(Recording(entries), matching: rules).perform(message)
        } catch {
            return (error, try #require(error.underlying as? ReplayTransport.Miss))
        }
        throw CancellationError()
    }

    @Test func missListsTheDifferences() async throws {
        let (error, miss) = try await miss(
            [Exchanges.entry("GET", "/a?page=1", id: "7")],
            Exchanges.message("GET", "/a?page=2&x")
        )
        #expect(error.kind == .notInRecording)
        #expect(!error.mayHaveReachedServer)
        #expect(!error.isRetryable)
        #expect(error.request?.path == "/a?page=2&x")
        #expect(miss.nearest.map(\.id) == ["7"])
        #expect(
            miss.nearest.first?.differences == [
                ComparisonRules.Difference(.changed, at: "query page", before: "1", after: "2"),
                ComparisonRules.Difference(.added, at: "query x", after: ""),
            ]
        )
        #expect(
            error.message.contains(
                "nearest is GET https://api.example.com/a?page=1 (query page: 1 → 2, query x: added )"
            )
        )
    }

    private static let eachDifferingPlaceIsNamedArguments: [(LogEntry, TransferRequest, [String])] = [
        (Exchanges.entry("POST", "/a"), Exchanges.message("GET", "/a"), ["method"]),
        (Exchanges.entry("GET", "/a/b"), Exchanges.message("GET", "/a/c"), ["path"]),
        (Exchanges.entry("GET", "http://other/a"), Exchanges.message("GET", "/a"), ["origin"]),
        (
            Exchanges.entry("POST", "/a", body: Exchanges.json(#"{"u":{"n":1},"l":[1,2]}"#)),
            Exchanges.message("POST", "/a", body: Exchanges.json(#"{"u":{"n":2},"l":[1]}"#)),
            ["body $.l[1]", "body $.u.n"]
        ),
        (
            Exchanges.entry("POST", "/a", body: Exchanges.form("a=1")),
            Exchanges.message("POST", "/a", body: Exchanges.form("b=1")), ["body a", "body b"]
        ),
        (
            Exchanges.entry("POST", "/a", body: Exchanges.json(#"{"u":"REDACTED","n":1}"#)),
            Exchanges.message("POST", "/a", body: Exchanges.json(#"{"n":1}"#)), ["body $.u"]
        ),
    ]

    @Test(arguments: Self.eachDifferingPlaceIsNamedArguments)
    func eachDifferingPlaceIsNamed(_ entry: LogEntry, _ message: TransferRequest, _ places: [String]) async throws {
        let (_, miss) = try await miss([entry], message)
        #expect(miss.nearest.first?.differences.map(\.place) == places)
    }

    @Test func headerAndCustomRulesAreNamed() async throws {
        let (_, miss) = try await miss(
            [Exchanges.entry("GET", "/a", fields: [LogEntry.Field("Accept", "x")])],
            Exchanges.message("GET", "/a", [.accept: "y"]),
            [
                .headers(["Accept"]), .custom("length") { "\($0.url.count + $0.fields.count)" },
                .custom("accept is x") { "\($0.fields["accept"] == "x")" },
            ]
        )
        #expect(miss.nearest.first?.differences.map(\.place) == ["header accept", "accept is x"])
    }

    @Test func threeNearestEntriesAreListedInOrder() async throws {
        let entries = [
            Exchanges.entry("GET", "/b?x=1", id: "path"),
            Exchanges.entry("POST", "/a?x=1", at: 1, id: "method and query"),
            Exchanges.entry("GET", "/a?x=1&y=2", at: 2, id: "two items"),
            Exchanges.entry("GET", "/a?x=1", at: 3, id: "one item"),
            Exchanges.entry("GET", "/a?x=9", at: 4, id: "one item too"),
        ]
        let (_, miss) = try await miss(entries, Exchanges.message("GET", "/a?x=2"))
        #expect(miss.nearest.map(\.id) == ["one item", "one item too", "two items"])
        #expect(miss.description.split(separator: "\n").count == 4)
    }

    @Test func noEntryIsListedIfNoneIsSimilar() async throws {
        let (error, miss) = try await miss([Exchanges.entry("GET", "/b")], Exchanges.message("GET", "/a"))
        #expect(miss.nearest.isEmpty)
        #expect(error.message == "the recording has no response to this request")
    }

    @Test func exhaustedResponsesAreCountedInTheError() async throws {
        let transport = ReplayTransport(Recording([Exchanges.entry("GET", "/a")]), repeats: .sequenceThenFail)
        _ = try await transport.perform(Exchanges.message("GET", "/a"))
        do throws(NetworkError) {
            _ = try await transport.perform(Exchanges.message("GET", "/a"))
            Issue.record("a response was replayed twice")
        } catch {
            #expect((error.underlying as? ReplayTransport.Miss)?.exhausted == 1)
            #expect(error.message.contains("no more responses to this request: all 1 were used"))
        }
    }

    /// The description of a miss contains no secret of the recording or the request.
    @Test func missContainsNoSecret() async throws {
        let entry = Exchanges.entry(
            "POST",
            "https://u:canary1@api.example.com/a?token=canary2&n=1",
            fields: [LogEntry.Field("Authorization", "Bearer canary3")],
            body: Exchanges.json(#"{"password":"canary4","n":1}"#)
        )
        let message = Exchanges.message(
            "POST",
            "/a?token=canary5&n=2",
            [.authorization: "Basic canary6"],
            body: Exchanges.json(#"{"password":{"x":"canary7"},"n":2}"#)
        )
        let (error, miss) = try await miss([entry], message, .standard + [.headers(["Authorization"])])
        #expect(miss.nearest.first?.differences.count == 3)
        var dumped = ""
        dump(error, to: &dumped)
        dump(miss, to: &dumped)
        #expect(!"\(error)\(miss)\(dumped)".contains("canary"))
    }

    @Test func longValuesAreAbbreviated() async throws {
        let long = String(repeating: "x", count: 5_000)
        let (error, _) = try await miss([Exchanges.entry("GET", "/a?q=1")], Exchanges.message("GET", "/a?q=\(long)"))
        #expect(error.message.utf8.count < 300)
    }
}
