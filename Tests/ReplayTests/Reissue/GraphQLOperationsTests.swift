import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Classification of GraphQL requests as safe or unsafe.
struct GraphQLOperationsTests {
    private static let operationsAreFoundArguments: [(String, Set<String>)] = [
        ("{ a }", ["query"]), ("query { a }", ["query"]),
        ("query A($b: [B!]! = [{c: 1}]) @d(e: {f: 2}) { g }", ["query"]),
        ("# mutation\n\u{FEFF} query{a}", ["query"]), (#"{ a(b: "} mutation { c }") }"#, ["query"]),
        (#"{ a(b: """} mutation { c } \""" """) }"#, ["query"]),
        ("fragment F on T { a } query Q { ...F }", ["query"]),
        ("query A { a } query B { mutation }", ["query"]), ("mutation { a }", ["mutation"]),
        ("mutation M($a: I = {b: 1}) { c { d } }", ["mutation"]), ("subscription { a }", ["subscription"]),
        ("query A { a } mutation B { b }", ["query", "mutation"]),
        ("fragment F on T { a } mutation B { ...F }", ["mutation"]),
        ("query A { a }, mutation B { b }", ["query", "mutation"]),
    ]

    @Test(arguments: Self.operationsAreFoundArguments)
    func operationsAreFound(_ document: String, _ operations: Set<String>) {
        #expect(GraphQLText.operations(in: document) == operations)
    }

    private static let invalidDocumentHasNoOperationsArguments: [String] = [
        "", "shoes", "query", "query {", "{ a } }", "fragment F on T { a }", "type Query { a: Int }", "{ a } mutation",
        "queryable { a }", #"{ a(b: "} "#,
    ]

    @Test(arguments: Self.invalidDocumentHasNoOperationsArguments)
    func invalidDocumentHasNoOperations(_ text: String) {
        #expect(GraphQLText.operations(in: text) == nil)
    }

    /// Whether a POST with this body is sent although unsafe methods are not allowed.
    private func isSent(_ type: String, _ body: Data, _ method: String = "POST", _ url: String = "https://h/graphql")
        throws
        -> Bool
    {
        let entry = LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(
                method: method,
                url: url,
                fields: [LogEntry.Field("Content-Type", type)],
                body: body.isEmpty ? nil : LogEntry.Body(.data(body), mediaType: type)
            ),
            response: LogEntry.Response(status: 200)
        )
        let routes = ReissueRoutes(fallback: try Reissuer.Target("http://127.0.0.1:81"), hosts: [:])
        func request(_ isUnsafe: Bool) throws -> TransferRequest {
            try ReissueRequestBuilder(routes: routes, headers: [], allowsUnsafeMethods: isUnsafe).request(entry) {
                body throws(NetworkError) in
                try Recording([]).wholeBody(body)
            }
        }
        _ = try request(true)
        do {
            _ = try request(false)
            return true
        } catch let error as SkipReason {
            #expect(error.reason.contains("may change data on the server"))
            return false
        }
    }

    private static let json = "application/json; charset=utf-8"

    private static let queriesByPOSTAreSafeArguments: [(String, String, Bool)] = [
        (json, #"{"query":"{ a }"}"#, true),
        (json, #"{"query":"query A { a }","operationName":"A","variables":{"x":1}}"#, true),
        ("application/graphql+json", #"{"query":"{ a }"}"#, true), ("application/graphql", "{ a }", true),
        (json, #"[{"query":"{ a }"},{"query":"query { b }"}]"#, true), (json, #"{"query":"mutation { a }"}"#, false),
        (json, #"{"query":"query A { a } mutation B { b }","operationName":"A"}"#, false),
        (json, #"[{"query":"{ a }"},{"query":"mutation { b }"}]"#, false), (json, "[]", false),
        (json, #"{"query":"subscription { a }"}"#, false), ("application/graphql", "mutation { a }", false),
        (json, #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}"#, false),
        (json, #"{"query":{"match":{}}}"#, false), (json, #"{"query":"shoes"}"#, false), (json, "{", false),
        ("text/plain", #"{"query":"{ a }"}"#, false), ("multipart/form-data; boundary=b", #"{"query":"{ a }"}"#, false),
        (json, "", false),
    ]

    @Test(arguments: Self.queriesByPOSTAreSafeArguments)
    func queriesByPOSTAreSafe(_ type: String, _ body: String, _ isSafe: Bool) throws {
        #expect(try isSent(type, Data(body.utf8)) == isSafe)
        #expect(try !isSent(type, Data(body.utf8), "PUT"))
    }

    @Test func bodyIsDecodedBeforeItIsParsed() throws {
        let charset = try #require(Charset(label: "utf-16"))
        let query = try #require(charset.encoded(#"{"query":"{ a }"}"#))
        #expect(try isSent("application/json; charset=utf-16", query))
    }

    private static let mutationByGETIsNotSafeArguments: [(String, Bool)] = [
        ("https://h/graphql?query=%7Ba%7D", true), ("https://h/graphql?query=mutation%7Ba%7D", false),
        ("https://h/graphql?query=mutation+%7B+a+%7D&operationName=x", false),
        ("https://h/search?query=mutation", true),
    ]

    @Test(arguments: Self.mutationByGETIsNotSafeArguments)
    func mutationByGETIsNotSafe(_ url: String, _ isSafe: Bool) throws {
        #expect(try isSent("", Data(), "GET", url) == isSafe)
    }

    @Test func queryWithAnUnrecordedBodyIsSkippedWithTheReason() throws {
        let entry = LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: "POST", url: "https://h/", body: LogEntry.Body(.omitted("too large"))),
            response: LogEntry.Response(status: 200)
        )
        let routes = ReissueRoutes(fallback: try Reissuer.Target("http://127.0.0.1:81"), hosts: [:])
        let message = ReissueRequestBuilder(routes: routes, headers: [], allowsUnsafeMethods: false)
        #expect(throws: SkipReason(reason: "its body cannot be sent: the body was not recorded: too large")) {
            try message.request(entry) { body throws(NetworkError) in try Recording([]).wholeBody(body) }
        }
    }
}
