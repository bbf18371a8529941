import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The flags of a command that sends one request, spelled as curl's.
@dynamicMemberLookup
struct CommonFlags: Sendable {
    let general: GeneralFlags
    let speed: SpeedFlags
    let access: AccessFlags
    let connection: ConnectionFlags
    let recording: RecordingFlags
    let replay: ReplayFlags

    subscript<Value>(dynamicMember path: KeyPath<GeneralFlags, Value>) -> Value { general[keyPath: path] }

    /// The options of a transfer. Where `--max-time` is given it is the only limit, as it is with curl; what goes to
    /// a file may be of any size and take any time, as long as it goes on.
    ///
    /// - Throws: `Failure` where `--cacert` names no file that can be read.
    func options() throws -> TransferOptions {
        var options = TransferOptions()
        if general.file != nil {
            options.maxBodyBytes = nil
            options.timeouts.total = nil
        }
        if let maxFilesize = general.maxFilesize { options.maxBodyBytes = maxFilesize.bytes }
        if let maxTime = general.maxTime {
            options.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(maxTime))
        }
        if let connectTimeout = general.connectTimeout { options.timeouts.connect = .seconds(connectTimeout) }
        if let cacert = general.cacert { options.trust = .file(path: try readable(cacert)) }
        access.apply(to: &options)
        speed.apply(to: &options)
        options.version = general.http1 ? .http1 : general.http2 ? .http2 : general.http3 ? .http3 : .automatic
        if !general.compressed { options.codings = [] }
        try connection.apply(to: &options)
        return options
    }

    private func readable(_ cacert: String) throws -> String {
        do throws(NetworkError) {
            _ = try OpenFile(reading: cacert)
            return cacert
        } catch {
            throw Failure(exit: ExitCode.badAuthorities, code: "file", phase: .build, "--cacert: \(error.message)")
        }
    }

    /// What an error of a command comes to, in the tool's words where the library's are those of its API.
    func failure(for error: any Error) -> Failure {
        var failure = Failure(wrapping: error)
        guard let error = error as? NetworkError else { return failure }
        failure.message = inFlags(error.message)
        failure.advice = advice(for: error)
        return failure
    }

    /// A message of the library in the words of the tool's flags.
    func inFlags(_ message: String) -> String {
        access.inFlags(ConnectionFlags.inFlags(message))
    }

    /// What to try, in the tool's words where the library's are those of its API.
    func advice(for error: NetworkError) -> String? {
        var error = error
        error.advice = error.advice.map(ConnectionFlags.inFlags)
        if error.isKept { return "send it later with 'beagle outbox flush'; do not submit it again" }
        if error.kind == .notInRecording {
            return "send a request that is in the recording, or leave out --replay to use the network"
        }
        if error.advice?.contains("ImageInterceptor") == true { return "increase --max-pixels" }
        guard error.advisesOnAPI else { return error.advice }
        switch error.kind {
        case .timeout where error.advice?.contains("minimumSpeed") == true:
            return "decrease --speed-limit, or increase --speed-time"
        case .timeout where general.connectTimeout != nil && [.resolve, .connect, .tls].contains(error.phase):
            return "increase --connect-timeout"
        case .timeout: return "allow more time with --max-time"
        case .tls where general.cacert != nil:
            return "check the certificate and the host name; only the CAs in --cacert are trusted"
        case .tls: return "check the certificate and the host name, or name a file of trusted CAs with --cacert"
        case .tooLarge where general.maxFilesize != nil: return "increase --max-filesize"
        case .tooLarge: return "write the body to a file with -o"
        case .blocked where access.publicOnly: return "use another host, or leave out --public-only"
        default: return error.advice
        }
    }

    /// Puts the headers of the command line into a message, instead of those of the same name.
    func apply(to head: inout HTTPRequest) {
        for name in Set(general.header.compactMap(\.name)) { head.headerFields[fields: name] = [] }
        for line in general.header {
            guard let name = line.name, let value = line.value else { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        access.apply(to: &head)
    }
}
