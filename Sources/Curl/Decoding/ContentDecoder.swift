package import BeagleNetHTTP

/// Undoes the content encodings of a body (RFC 9110, 8.4), a piece at a time.
///
/// libcurl's own decoding is off: it takes a body that was cut off for a whole one, fails on encodings it does not
/// know, and counts no decoded bytes.
package final class ContentDecoder {
    /// More layers than this are an attack, not an encoding.
    private static let maxLayers = 4

    private let last: Stage

    /// What we ask servers for: gzip and deflate always, brotli and zstd where their libraries are installed.
    static let accepted: String = {
        var names = ["gzip", "deflate"]
        if Brotli.library != nil { names.append("br") }
        if Zstandard.library != nil { names.append("zstd") }
        return names.joined(separator: ", ")
    }()

    /// The decoder for these encodings; nil when there are none or one that we do not know: the body is handed over
    /// as it came then.
    package init?(contentEncoding: String) throws(NetworkError) {
        var layers: [any DecodingLayer] = []
        for token in contentEncoding.split(separator: ",") {
            let name = token.filter { $0 != " " && $0 != "\t" }.lowercased()
            if name.isEmpty || name == "identity" { continue }
            guard layers.count < Self.maxLayers else {
                throw .encoding("the body has more than \(Self.maxLayers) content encodings")
            }
            guard let layer = try Self.layer(name) else { return nil }
            layers.append(layer)
        }
        guard let outermost = layers.popLast() else { return nil }
        last = layers.reversed().reduce(Stage(outermost)) { Stage($1, after: $0) }
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

    /// Decodes the next piece: at most 64 KiB, which stay until the next call. Empty when all of `input` has been used
    /// and nothing more comes of it.
    ///
    /// - Parameter input: what has been used is taken off.
    package func decode(_ input: inout UnsafeRawBufferPointer) throws(NetworkError) -> UnsafeRawBufferPointer {
        try last.fill(from: &input)
        defer { last.output = .none }
        return last.output
    }

    /// Checks that every layer came to its end. A body of no bytes at all is whole: a 204 has no content to encode.
    package func finish() throws(NetworkError) {
        var stage: Stage? = last
        while let layer = stage?.layer {
            if layer.isBegun && !layer.isEnded { throw .encoding("the encoded body is truncated") }
            stage = stage?.source
        }
    }

    /// One encoding being undone, and what came out of it.
    private final class Stage {
        let layer: any DecodingLayer
        let source: Stage?
        private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        /// What nobody has taken yet, in `room`.
        var output = UnsafeRawBufferPointer.none

        init(_ layer: any DecodingLayer, after source: Stage? = nil) {
            self.layer = layer
            self.source = source
        }

        deinit {
            room.deallocate()
        }

        /// Works until there is output or all input has been used.
        func fill(from input: inout UnsafeRawBufferPointer) throws(NetworkError) {
            guard let source else {
                return take(try layer.decode(&input, into: room))
            }
            repeat {
                if source.output.isEmpty { try source.fill(from: &input) }
                let isStarved = source.output.isEmpty
                take(try layer.decode(&source.output, into: room))
                if isStarved { return }
            } while output.isEmpty
        }

        private func take(_ count: Int) {
            output = UnsafeRawBufferPointer(rebasing: room[..<count])
        }
    }
}

/// One content encoding, being undone.
protocol DecodingLayer: AnyObject {
    /// Whether bytes have come.
    var isBegun: Bool { get }
    /// Whether the encoded data came to their end.
    var isEnded: Bool { get }
    /// Decodes as much as there is room for, and gives how many bytes that are: none only where all of `input` has
    /// been used and nothing is left inside.
    ///
    /// - Parameter input: what has been used is taken off.
    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into room: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Int
}

extension UnsafeRawBufferPointer {
    static var none: UnsafeRawBufferPointer { .init(start: nil, count: 0) }

    /// Leaves the last `count` bytes.
    mutating func keepLast(_ count: Int) {
        self = UnsafeRawBufferPointer(rebasing: suffix(count))
    }
}

extension NetworkError {
    static func encoding(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .body, message)
    }

    static var behindTheEnd: NetworkError { .encoding("the encoded body is followed by extra bytes") }
}
