import ArgumentParser
import BeagleNetHTTP

/// The options for the compression and the HTTP version of a transfer, with curl's names.
struct TransferFlags: ParsableArguments {
    @Flag(name: .long, inversion: .prefixedNo, help: "Request a compressed response, and decompress it.")
    var compressed = true

    @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1.")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2: negotiated over TLS, or else with prior knowledge.")
    var http2 = false

    @Flag(name: .customLong("http3"), help: "Use HTTP/3 for https URLs if libcurl and the server support it.")
    var http3 = false

    /// The options of a command line without any.
    static var standard: TransferFlags {
        var flags = TransferFlags()
        (flags.compressed, flags.http1, flags.http2, flags.http3) = (true, false, false, false)
        return flags
    }

    func validate() throws {
        if [http1, http2, http3].count(where: \.self) > 1 {
            throw ValidationError("'--http1.1', '--http2' and '--http3' cannot be used together.")
        }
    }

    func apply(to options: inout TransferOptions) {
        options.version = http1 ? .http1 : http2 ? .http2 : http3 ? .http3 : .automatic
        if !compressed { options.codings = [] }
    }
}
