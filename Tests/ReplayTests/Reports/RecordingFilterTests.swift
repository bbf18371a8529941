import BeagleNetReplay
import Foundation
import Testing

struct RecordingFilterTests {
    private let form = LogEntry(
        id: "s-7",
        started: Date(timeIntervalSince1970: 0),
        request: LogEntry.Request(
            method: "POST",
            url: "https://ana:x@API.x.com:8443/v1/forms?q=a",
            fields: [LogEntry.Field("Content-Type", "application/json"), LogEntry.Field("X-Trace", "Abc")],
            body: LogEntry.Body(.data(Data(#"{"token":"REDACTED"}"#.utf8)))
        ),
        response: LogEntry.Response(
            status: 422,
            fields: [LogEntry.Field("x-trace", "def")],
            body: LogEntry.Body(.data(Data("né".utf8)), size: 20_480)
        ),
        timings: LogEntry.Timings(send: .milliseconds(1), wait: .milliseconds(600)),
        kind: "form",
        operationName: "SignUp"
    )
    private let failed = LogEntry(
        started: Date(timeIntervalSince1970: 0),
        request: LogEntry.Request(method: "GET", url: "http://[::1]:80"),
        error: "timeout: nothing came"
    )

    private static let filterMatchesEntriesArguments: [(String, Bool)] = [
        (#"type==submitForm && host~"*.x.com" && status>=400 && time>500ms && body~"token""#, true),
        ("kind==form", true), ("type==FORM", true), ("type!=fetchImage", true), ("type==fetchImage", false),
        ("method==post", true), ("method~po", true), ("host==api.x.com", true), ("host~x.com", true),
        ("host~*.y", false),
        ("path==/v1/forms", true), ("path==/V1/forms", false), ("path~/FORMS", true), ("path~/v?/*", true),
        ("url~q=a", true), ("status==422", true), ("status==4xx", true), ("status!=4XX", false), ("status==5xx", false),
        ("status<422", false), ("status<=422", true), ("status>422", false), ("status>421.5", true),
        ("time>0.6s", true), ("time<1m", true), ("time>601", false), ("time==601ms", true), ("time>=600999us", true),
        ("size==20k", true), ("size>1M", false), ("size>=20480b", true), ("error", false), ("!error", true),
        ("operation==SignUp", true), ("operation==signup", false), ("operation", true),
        ("header(content-type)~json", true), ("header(X-Trace)==DEF", true), ("header(X-Trace)!=def", false),
        ("header(Cookie)", false), ("header(X-Trace)", true), ("body~'N?'", true), ("body~x?", false),
        ("body~n?", true), ("body", true),
        ("body=='né'", true), ("id==s-7", true), ("!(status==422)", false), ("!!status", true),
        ("status==200 || method==POST", true), ("status==200 || method==GET", false),
        ("status==200 && method==GET || method==POST", true), ("status==200 && (method==GET || method==POST)", false),
        ("method==POST status==422", true), ("method==POST status==200", false),
        ("method==POST & !error | status==1", true),
        ("~m post ~c 422", true), ("~u q=a & ~d x.com", true), ("~t json", true), ("~b token", true), ("~b to*n", true),
        ("~e", false), ("!~e", true), ("~c 404", false), ("  status == 422  ", true), (#"host=="""#, false),
    ]

    @Test(arguments: Self.filterMatchesEntriesArguments)
    func filterMatchesEntries(text: String, isWanted: Bool) throws {
        #expect(try Recording.Filter(text).matches(form) == isWanted)
    }

    private static let missingValuesMatchOnlyNegationsArguments: [(String, Bool)] = [
        ("error", true), ("~e", true), ("error~timeout*", true), ("status", false), ("status!=404", true),
        ("status<500", false), ("status==0", false), ("host==::1", true), ("path==/", true), ("type==raw", false),
        ("type!=raw", true), ("id", false), ("id!=a", true), ("size>=0", false), ("body", false), ("operation", false),
        ("time==0", true),
    ]

    @Test(arguments: Self.missingValuesMatchOnlyNegationsArguments)
    func missingValuesMatchOnlyNegations(text: String, isWanted: Bool) throws {
        #expect(try Recording.Filter(text).matches(failed) == isWanted)
    }

    private static let faultsHaveAColumnAndAReasonArguments: [(String, Int, String)] = [
        ("", 1, "expected a field"), ("statu==1", 1, "'statu' is not a field"), ("status==abc", 9, "a status"),
        ("status==", 9, "expected a value"), ("status>=4xx", 9, "a status"), ("time>5x", 6, "500ms"),
        ("time~5", 6, "numbers can be compared only with"), ("host>5", 7, "'==', '!=' and '~'"), ("size>big", 6, "10k"),
        (#"host=="a"#, 7, "not closed"), ("(status==1", 11, "expected ')'"), ("status==1)", 10, "unexpected ')'"),
        ("status==1 &&", 13, "a field"), ("header", 7, "'('"), ("header()==1", 8, "a header name"), ("~x 1", 2, "~u"),
        ("status==1 || || 2", 14, "a field"), ("method==GET )", 13, "unexpected ')'"), ("!", 2, "a field"),
        ("né==1", 1, "is not a field"), ("status==1.2.3", 9, "a status"), ("host==a\u{301}b \"", 11, "a field"),
    ]

    @Test(arguments: Self.faultsHaveAColumnAndAReasonArguments)
    func faultsHaveAColumnAndAReason(text: String, column: Int, reason: String) throws {
        let error = try #require(throws: NetworkError.self) { try Recording.Filter(text) }
        #expect(error.kind == .badConfiguration)
        #expect(error.message.hasPrefix("the filter is invalid at column \(column): "), "\(error.message)")
        #expect(error.message.contains(reason), "\(error.message)")
    }

    @Test func nestingDepthIsLimited() throws {
        let deep = String(repeating: "(", count: 1_000_000)
        #expect(throws: NetworkError.self) { try Recording.Filter(deep) }
        #expect(throws: NetworkError.self) { try Recording.Filter(String(repeating: "!", count: 1_000_000)) }
        let wide = Array(repeating: "!error", count: 10_000).joined(separator: " && ")
        #expect(try Recording.Filter(wide).matches(form))
    }

    @Test func largestStatusIsCompared() throws {
        var entry = form
        entry.response?.status = .max
        #expect(try !Recording.Filter("status==4xx").matches(entry))
        #expect(try Recording.Filter("status>1").matches(entry))
    }
}
