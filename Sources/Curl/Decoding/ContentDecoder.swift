import BeagleNetHTTP

/// Undoes the content encodings of a body (RFC 9110, 8.4), a piece at a time.
///
/// libcurl's own decoding is off: it takes a body that was cut off for a whole one, fails on encodings it does not
/// know, and counts no decoded bytes.
final class ContentDecoder {
    /// More layers than this are an attack, not an encoding.
    private static let maxLayers = 4

    private let layers: [any DecodingLayer]

    /// What we ask servers for: gzip and deflate always, brotli and zstd where their libraries are installed.
    static let accepted: String = {
        var names = ["gzip", "deflate"]
        if Brotli.library != nil { names.append("br") }
        if Zstandard.library != nil { names.append("zstd") }
        return names.joined(separator: ", ")
    }()

    /// The decoder for these encodings; nil when there are none or one that we do not know: the body is handed over
    /// as it came then.
    init?(contentEncoding: String) throws(NetworkError) {
        var layers: [any DecodingLayer] = []
        for token in contentEncoding.split(separator: ",") {
            let name = token.filter { $0 != " " && $0 != "\t" }.lowercased()
            if name.isEmpty || name == "identity" { continue }
            guard layers.count < Self.maxLayers else {
                throw .encoding("the body is encoded more than \(Self.maxLayers) times over")
            }
            guard let layer = try Self.layer(name) else { return nil }
            layers.append(layer)
        }
        if layers.isEmpty { return nil }
        self.layers = layers.reversed()
    }

    private static func layer(_ name: String) throws(NetworkError) -> (any DecodingLayer)? {
        switch name {
        case "gzip", "x-gzip": Inflate(.gzip)
        case "deflate": Inflate(.deflate)
        case "br": try Brotli()
        case "zstd": try Zstandard()
        default: nil
        }
    }

    /// Decodes a piece and gives what comes out to `sink`, in pieces of at most 64 KiB.
    func decode(
        _ input: UnsafeRawBufferPointer,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        try decode(input, through: 0, sink)
    }

    /// Checks that every layer came to its end. A body of no bytes at all is whole: a 204 has no content to encode.
    func finish() throws(NetworkError) {
        for layer in layers where layer.isBegun && !layer.isEnded {
            throw .encoding("the encoded body was cut off")
        }
    }

    private func decode(
        _ input: UnsafeRawBufferPointer,
        through index: Int,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard index < layers.count else { return try sink(input) }
        try layers[index].decode(input) { output throws(NetworkError) in
            try decode(output, through: index + 1, sink)
        }
    }
}

/// One content encoding being undone.
protocol DecodingLayer: AnyObject {
    /// Whether bytes have come.
    var isBegun: Bool { get }
    /// Whether the encoded data came to their end.
    var isEnded: Bool { get }
    func decode(
        _ input: UnsafeRawBufferPointer,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError)
}

/// Room for decoded bytes on their way to the next layer.
struct DecodingRoom: ~Copyable {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)

    /// The first `count` bytes.
    func prefix(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }

    deinit {
        bytes.deallocate()
    }
}

extension NetworkError {
    static func encoding(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .body, message)
    }
}
