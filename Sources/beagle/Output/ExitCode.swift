import ArgumentParser
import BeagleNetHTTP

/// The tool's exit codes: those of libcurl for transfers, 64 of sysexits for an invalid command line, and others from
/// 101.
///
/// Source of libcurl's codes: https://curl.se/libcurl/c/libcurl-errors.html
extension ExitCode {
    /// `CURLE_WRITE_ERROR`: the response can't be written to standard output or to a file.
    static let writeFailed: Int32 = 23
    /// `CURLE_READ_ERROR`: a file to send can't be read.
    static let readFailed: Int32 = 26
    /// `CURLE_WEIRD_SERVER_REPLY`: the response isn't an event stream.
    static let weirdReply: Int32 = 8
    /// `CURLE_HTTP_RETURNED_ERROR`: the status is 400 or above.
    static let httpError: Int32 = 22
    /// `CURLE_SSL_CACERT_BADFILE`: the CA certificate file can't be read.
    static let badAuthorities: Int32 = 77
    /// `CURLE_RANGE_ERROR`: the server doesn't resume at the requested offset.
    static let noRanges: Int32 = 33
    /// The command line is invalid.
    static let usage: Int32 = 64
    /// The response isn't a screen or image.
    static let invalidContent: Int32 = 101
    /// The server returned GraphQL errors.
    static let graphQLErrors: Int32 = 102
    /// Responses differ from the recorded ones, or two plans differ.
    static let different: Int32 = 104
    /// The recording of `--replay` has no response, or `replay --fail-on-skip` has skipped entries.
    static let notInRecording: Int32 = 103
    /// The form is stored in the outbox, and hasn't been accepted yet.
    static let storedInOutbox: Int32 = 105
    /// The cache has no response, and `--cache-mode cache-only` doesn't allow using the network.
    static let notStored: Int32 = 106
    /// A crawl has found errors or warnings, or a prefetch is incomplete.
    static let faultsFound: Int32 = 107

    /// Returns the exit code for a failed transfer: one for its kind if that is unambiguous, and otherwise libcurl's
    /// error code.
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
        case .decoding: invalidContent
        case .kept: storedInOutbox
        case .notStored where error.phase == .queue: notStored
        case .notInRecording: notInRecording
        default: error.transportCode.flatMap { (1...99).contains($0) ? Int32($0) : nil } ?? fallback(for: error)
        }
    }

    /// Returns the exit code for a kind that has several, if libcurl reported none.
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
