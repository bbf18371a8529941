import BeagleNetHTTP
import CBeagleNetCurl
import Testing

@testable import BeagleNetCurl

/// The error kind of each libcurl error code, in the phase in which libcurl reports it.
struct CurlFailureTests {
    typealias Row = (kind: NetworkError.Kind, phase: NetworkError.Phase)

    /// The expected errors by code, for a failure while waiting for the first byte.
    static let rows: [UInt32: Row] = {
        var rows: [UInt32: Row] = [
            1: (.protocol, .firstByte), 3: (.badURL, .build), 5: (.dns, .resolve), 6: (.dns, .resolve),
            7: (.connect, .connect), 8: (.protocol, .firstByte), 16: (.protocol, .firstByte),
            18: (.network, .firstByte), 27: (.tooLarge, .firstByte), 28: (.timeout, .firstByte),
            43: (.protocol, .firstByte), 45: (.connect, .connect), 47: (.tooManyRedirects, .redirect),
            52: (.network, .firstByte), 55: (.network, .firstByte), 56: (.network, .firstByte), 61: (.encoding, .body),
            63: (.tooLarge, .body), 65: (.network, .firstByte), 89: (.connect, .connect), 92: (.protocol, .firstByte),
            95: (.protocol, .firstByte), 96: (.connect, .connect), 97: (.connect, .connect),
            100: (.tooLarge, .firstByte),
        ]
        for code in [35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98, 101] as [UInt32] {
            rows[code] = (.tls, .tls)
        }
        let otherProtocols: [UInt32] =
            [9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 25, 30, 31, 33, 36, 37, 38, 39, 67, 68, 69, 70, 71, 72, 73, 74, 78]
            + [79, 84, 85, 86, 87, 88]
        let obsolete: [UInt32] = [20, 24, 29, 32, 34, 40, 41, 44, 46, 50, 51, 57, 62, 75, 76]
        let ours: [UInt32] = [2, 4, 22, 23, 26, 42, 48, 49, 81, 93, 94, 99]
        for code in otherProtocols + obsolete + ours { rows[code] = (.other, .firstByte) }
        return rows
    }()

    @Test(arguments: 1..<CURL_LAST.rawValue) func everyErrorCodeHasAnErrorKind(_ code: UInt32) throws {
        let row = try #require(Self.rows[code], "libcurl has an error code without an expected kind")
        let error = CurlFailure.error(CURLcode(code), "", during: .firstByte, with: TransferOptions())
        #expect(error.kind == row.kind && error.phase == row.phase, "\(error)")
        #expect(error.transportCode == Int(code))
    }

    struct Detail: Sendable {
        var code: CURLcode
        var text = ""
        let phase: NetworkError.Phase
        let kind: NetworkError.Kind
        var place: NetworkError.Phase?
        var advice: String?
    }

    static let details = [
        Detail(code: CURLE_UNSUPPORTED_PROTOCOL, phase: .resolve, kind: .unsupportedScheme, place: .build),
        Detail(code: CURLE_PARTIAL_FILE, phase: .body, kind: .truncated),
        Detail(code: CURLE_RECV_ERROR, phase: .body, kind: .truncated),
        Detail(code: CURLE_OUT_OF_MEMORY, phase: .resolve, kind: .other),
        Detail(code: CURLE_BAD_FUNCTION_ARGUMENT, phase: .resolve, kind: .other),
        Detail(
            code: CURLE_RECV_ERROR,
            text: "CONNECT tunnel failed, response 403",
            phase: .connect,
            kind: .connect,
            advice: "proxy"
        ),
        Detail(code: CURLE_PROXY, phase: .connect, kind: .connect, advice: "proxy"),
        Detail(code: CURLE_COULDNT_RESOLVE_PROXY, phase: .resolve, kind: .dns, advice: "proxy"),
        Detail(code: CURLE_COULDNT_CONNECT, phase: .connect, kind: .connect, advice: "server"),
        Detail(
            code: CURLE_OPERATION_TIMEDOUT,
            text: "SSL connection timeout",
            phase: .connect,
            kind: .timeout,
            place: .tls
        ),
        Detail(code: CURLE_OUT_OF_MEMORY, phase: .send, kind: .tooLarge),
        Detail(
            code: CURLE_RECV_ERROR,
            text: "Illegal or missing hexadecimal sequence in chunked-encoding",
            phase: .body,
            kind: .protocol
        ),
        Detail(code: CURLE_RECV_ERROR, text: "Out of memory in chunked-encoding", phase: .body, kind: .tooLarge),
    ]

    @Test(arguments: details) func errorTextAndPhaseRefineTheKind(_ row: Detail) {
        let error = CurlFailure.error(row.code, row.text, during: row.phase, with: TransferOptions())
        #expect(error.kind == row.kind && error.phase == row.place ?? row.phase, "\(error)")
        if let advice = row.advice { #expect(error.advice?.contains(advice) == true, "\(error)") }
    }

    @Test(arguments: [NetworkError.Phase.firstByte, .send]) func errorExplainsThatAFieldIsTooLarge(
        _ phase: NetworkError.Phase
    ) {
        let error = CurlFailure.error(CURLE_OUT_OF_MEMORY, "Out of memory", during: phase, with: TransferOptions())
        #expect(error.message == "a response header field is larger than libcurl's limit of 100 KiB")
    }

    private static let proxySecretsAreRedactedArguments: [(String, String, String)] = [
        ("cannot use 'http://u:hunter2@x'", "http://u:hunter2@x", "cannot use 'http://REDACTED@x'"),
        ("cannot use 'http://u@x'", "http://u@x", "cannot use 'http://REDACTED@x'"),
        ("cannot resolve proxy: hunter2", "me:hunter2#x@h", "cannot resolve proxy: REDACTED"),
        ("cannot resolve proxy: unusual", "http://u@x", "cannot resolve proxy: unusual"),
        ("cannot resolve proxy: x", "http://@x", "cannot resolve proxy: x"),
    ]

    /// A short user name can occur within other words.
    @Test(arguments: Self.proxySecretsAreRedactedArguments) func proxySecretsAreRedacted(
        _ text: String,
        _ proxy: String,
        _ expected: String
    ) {
        #expect(Proxy.withoutSecrets(of: text, proxies: [proxy]) == expected)
    }

    private static let errorMessageIsAClauseArguments: [(String, String)] = [
        ("Could not resolve host: x", "could not resolve host: x"),
        ("SSL certificate problem.", "SSL certificate problem"),
        ("OpenSSL/3.0: error. ", "OpenSSL/3.0: error"), ("HTTP/2 stream 1", "HTTP/2 stream 1"), ("A b", "A b"),
    ]

    @Test(arguments: Self.errorMessageIsAClauseArguments) func errorMessageIsAClause(_ text: String, _ clause: String) {
        let error = CurlFailure.error(CURLE_SEND_ERROR, text, during: .send, with: TransferOptions())
        #expect(error.message == clause)
    }
}
