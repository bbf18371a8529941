import BeagleNetHTTP
import CBeagleNetCurl

/// Undoes the content encodings of a body (RFC 9110, 8.4), a piece at a time.
///
/// libcurl's own decoding is off: it takes a gzip body that was cut off for a whole one, fails on encodings it does
/// not know, and counts no decoded bytes.
final class ContentDecoder {
    /// More layers than this are an attack, not an encoding.
    private static let maxLayers = 4

    private let layers: [Inflater]

    /// What we ask servers for.
    static let accepted = "gzip, deflate"

    /// The decoder for these encodings; nil when there are none or one that we do not know: the body is handed over
    /// as it came then.
    init?(contentEncoding: String) throws(NetworkError) {
        var layers: [Inflater] = []
        for token in contentEncoding.split(separator: ",") {
            let token = token.trimmingPrefix { $0 == " " || $0 == "\t" }
            let name = String(token.prefix { $0 != " " && $0 != "\t" }).lowercased()
            switch name {
            case "", "identity": continue
            case "gzip", "x-gzip": layers.append(try Inflater(.gzip))
            case "deflate": layers.append(try Inflater(.deflate))
            default: return nil
            }
            guard layers.count <= Self.maxLayers else {
                throw .encoding("the body is encoded more than \(Self.maxLayers) times over")
            }
        }
        if layers.isEmpty { return nil }
        self.layers = layers.reversed()
    }

    /// Decodes a piece and gives what comes out to `sink`, in pieces of at most 64 KiB.
    func decode(
        _ input: UnsafeRawBufferPointer,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        try decode(input, through: 0, sink)
    }

    /// Checks that every layer came to its end.
    func finish() throws(NetworkError) {
        for layer in layers where !layer.isWhole {
            throw .encoding("the encoded body was cut off")
        }
    }

    private func decode(
        _ input: UnsafeRawBufferPointer,
        through layer: Int,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard layer < layers.count else { return try sink(input) }
        try layers[layer].decode(input) { output throws(NetworkError) in
            try decode(output, through: layer + 1, sink)
        }
    }
}

/// One layer of gzip (RFC 1952) or deflate (RFC 1950, and the bare RFC 1951 that some servers send), by zlib.
private final class Inflater {
    enum Format {
        case gzip, deflate
    }

    private static let outputSize = 64 << 10

    private let format: Format
    /// Owned by this object: zlib keeps its address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private var isEnded = false
    private var hasInput = false

    init(_ format: Format) throws(NetworkError) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Whether the layer came to its end, or had nothing to decode at all.
    var isWhole: Bool { isEnded || !hasInput }

    func decode(
        _ input: UnsafeRawBufferPointer,
        _ sink: (UnsafeRawBufferPointer) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard let first = input.first else { return }
        hasInput = true
        if isEnded && (format != .gzip || first != 0x1F) { return }
        if isEnded { try restart() }
        if !isOpen { try open(firstByte: first) }

        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.outputSize, alignment: 1)
        defer { output.deallocate() }
        while true {
            stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let code = inflate(stream, Z_NO_FLUSH)
            let produced = output.count - Int(stream.pointee.avail_out)
            if produced > 0 { try sink(UnsafeRawBufferPointer(rebasing: output[..<produced])) }
            switch code {
            case Z_STREAM_END:
                isEnded = true
                // A gzip body may have several members (RFC 1952, 2.2); anything else behind the end is ignored.
                guard format == .gzip, stream.pointee.avail_in > 0, stream.pointee.next_in.pointee == 0x1F else {
                    return
                }
                try restart()
            case Z_OK:
                if stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0 { return }
            case Z_BUF_ERROR:
                return
            default:
                throw .encoding("the encoded body is damaged")
            }
        }
    }

    private func open(firstByte: UInt8) throws(NetworkError) {
        // 15 is zlib's window; +16 asks for gzip, minus for deflate without zlib's header, whose first byte is x8.
        let isBare = format == .deflate && firstByte & 0x0F != 8
        let windowBits: Int32 = format == .gzip ? 15 + 16 : isBare ? -15 : 15
        guard beagle_inflate_init(stream, windowBits) == Z_OK else { throw .encoding("no memory to decode the body") }
        isOpen = true
    }

    private func restart() throws(NetworkError) {
        isEnded = false
        guard inflateReset(stream) == Z_OK else { throw .encoding("the encoded body is damaged") }
    }
}

extension NetworkError {
    fileprivate static func encoding(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .body, message)
    }
}
