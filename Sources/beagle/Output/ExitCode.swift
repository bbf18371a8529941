import ArgumentParser
import BeagleNetHTTP

/// The tool's exit codes: libcurl's numbers for transfers, sysexits' 64 for usage, and some of our own from 101.
/// Source of libcurl's: https://curl.se/libcurl/c/libcurl-errors.html
extension ExitCode {
    /// `CURLE_WRITE_ERROR`: standard output or a file did not take what was received.
    static let writeFailed: Int32 = 23
    /// `CURLE_READ_ERROR`: a file to send cannot be read.
    static let readFailed: Int32 = 26
    /// `CURLE_WEIRD_SERVER_REPLY`: the answer is no event stream.
    static let weirdReply: Int32 = 8
    /// `CURLE_HTTP_RETURNED_ERROR`: a status of 400 or above.
    static let httpError: Int32 = 22
    /// `CURLE_SSL_CACERT_BADFILE`: the file of authorities cannot be read.
    static let badAuthorities: Int32 = 77
    /// `CURLE_RANGE_ERROR`: the server does not go on where it was asked to.
    static let noRanges: Int32 = 33
    /// The command line cannot be understood.
    static let usage: Int32 = 64
    /// The answer is no screen, or no image.
    static let notAScreen: Int32 = 101
    /// The server answered with GraphQL errors.
    static let graphQLErrors: Int32 = 102
    /// Answers are not what was recorded.
    static let different: Int32 = 104
    /// The recording that `--replay` names has no answer; or `replay --fail-on-skip` has skipped entries.
    static let notInRecording: Int32 = 103
    /// The form is kept in the outbox, and was not accepted yet.
    static let kept: Int32 = 105

    /// The number for a failed transfer: by its kind where one number fits, else libcurl's own where it has one.
    static func number(for error: NetworkError) -> Int32 {
        switch error.kind {
        case .unsupportedScheme, .insecureRedirect: 1
        case .badURL: 3
        case .unsupported: 4
        case .dns: 6
        case .blocked: error.phase == .redirect ? 47 : 7
        case .truncated: 18
        case .status: httpError
        case .file: error.phase == .build || error.phase == .send ? readFailed : writeFailed
        case .timeout: 28
        case .cancelled: 42
        case .badRequest: 43
        case .badConfiguration: error.transportCode.map { Int32($0) } ?? 43
        case .tooManyRedirects: 47
        case .encoding: 61
        case .tooLarge: 63
        case .decoding: notAScreen
        case .kept: kept
        case .notInRecording: notInRecording
        default: error.transportCode.flatMap { (1...99).contains($0) ? Int32($0) : nil } ?? fallback(for: error)
        }
    }

    /// The number for a failure that libcurl has several for and gave none.
    private static func fallback(for error: NetworkError) -> Int32 {
        switch error.kind {
        case .connect: 7
        case .protocol: 8
        case .tls: 35
        case .network: error.phase == .firstByte ? 52 : 56
        case .closed: 56
        default: 2
        }
    }
}
