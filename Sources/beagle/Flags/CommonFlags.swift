import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The options of every command that sends requests, with curl's names.
@dynamicMemberLookup
struct CommonFlags: ParsableArguments {
    @OptionGroup var basic: BasicFlags
    @OptionGroup var transfer: TransferFlags
    @OptionGroup var replay: ReplayFlags

    init() {}

    /// Creates the options of a command that has only some of them. The others have their defaults.
    init(_ basic: BasicFlags, transfer: TransferFlags = .standard, replay: ReplayFlags = .none) {
        (self.basic, self.transfer, self.replay) = (basic, transfer, replay)
    }

    subscript<Value>(dynamicMember member: KeyPath<BasicFlags, Value>) -> Value { basic[keyPath: member] }

    /// Returns the options of a transfer.
    ///
    /// `--max-time`, if it is given, is the only timeout, as in curl.
    ///
    /// - Parameter isForFile: Whether the body is written to a file, so that its size and total time have no limits.
    /// - Throws: `Failure` if the file of `--cacert` can't be read.
    func options(isForFile: Bool = false) throws -> TransferOptions {
        var options = TransferOptions()
        if isForFile {
            options.maxBodyBytes = nil
            options.timeouts.total = nil
        }
        if let maxFilesize = basic.maxFilesize { options.maxBodyBytes = maxFilesize.bytes }
        if let maxTime = basic.maxTime {
            options.timeouts = TransferOptions.Timeouts(
                connect: nil,
                firstByte: nil,
                idle: nil,
                total: .seconds(maxTime)
            )
        }
        if let connectTimeout = basic.connectTimeout { options.timeouts.connect = .seconds(connectTimeout) }
        if let cacert = basic.cacert { options.trust = .file(path: try readable(cacert)) }
        basic.access.apply(to: &options)
        basic.speed.apply(to: &options)
        transfer.apply(to: &options)
        try basic.connection.apply(to: &options)
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

    /// Returns the failure for a command's error, with API names replaced by option names.
    func failure(for error: any Error) -> Failure {
        var failure = Failure(wrapping: error)
        guard let error = error as? NetworkError else { return failure }
        failure.message = replacingAPINames(error.message)
        failure.advice = advice(for: error)
        return failure
    }

    /// Replaces API names in a message with option names.
    func replacingAPINames(_ message: String) -> String {
        basic.access.replacingAPINames(ConnectionFlags.replacingAPINames(message))
    }

    /// Returns the advice for an error, in terms of options instead of the API.
    func advice(for error: NetworkError) -> String? {
        var error = error
        error.advice = error.advice.map(ConnectionFlags.replacingAPINames)
        if error.isStoredInOutbox { return "send it later with 'beagle outbox flush'; do not submit it again" }
        if error.kind == .notInRecording {
            return "send a request that is in the recording, or leave out --replay to use the network"
        }
        if error.kind == .notStored { return "use another --cache-mode to allow using the network" }
        if error.advice?.contains("ImageInterceptor") == true { return "increase --max-pixels" }
        guard error.advisesOnAPI else { return error.advice }
        if error.advice?.contains("RedirectPolicy.") == true { return "check the redirects of the server" }
        switch error.kind {
        case .timeout where error.advice?.contains("minimumSpeed") == true:
            return "decrease --speed-limit, or increase --speed-time"
        case .timeout where basic.connectTimeout != nil && [.resolve, .connect, .tls].contains(error.phase):
            return "increase --connect-timeout"
        case .timeout: return "allow more time with --max-time"
        case .tls where basic.cacert != nil:
            return "check the certificate and the host name; only the CAs in --cacert are trusted"
        case .tls: return "check the certificate and the host name, or name a file of trusted CAs with --cacert"
        case .tooLarge where basic.maxFilesize != nil: return "increase --max-filesize"
        case .tooLarge: return "write the body to a file with -o"
        case .blocked where basic.access.publicOnly: return "use another host, or leave out --public-only"
        default: return error.advice
        }
    }

    /// Applies the headers of the command line, which replace existing ones with the same name.
    func apply(to head: inout HTTPRequest) {
        for name in Set(basic.header.compactMap(\.name)) { head.headerFields[fields: name] = [] }
        for line in basic.header {
            guard let name = line.name, let value = line.value else { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        basic.access.apply(to: &head)
    }
}

/// A number of bytes with curl's suffixes, which are powers of 1,024: `500`, `10k`, `2M`, `1G`.
struct ByteSize: ExpressibleByArgument, Equatable {
    let bytes: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let factors = ["": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        guard let number = Int(digits), number > 0, let factor = factors[argument[digits.endIndex...].lowercased()]
        else { return nil }
        let (bytes, isTooMany) = number.multipliedReportingOverflow(by: factor)
        guard !isTooMany else { return nil }
        self.bytes = bytes
    }
}
