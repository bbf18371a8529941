package import BeagleNetHTTP

/// Memory for the pieces of one streamed body, used again when its reader lets go of them: fresh memory costs a page
/// fault for every 4 KiB, which is half of what a fast body costs otherwise.
package final class SlabPool: Sendable {
    static let slabSize = 128 << 10
    /// Pieces of fewer bytes are copied, so that whoever keeps them does not keep a slab. It is no more than libcurl gives at
    /// once while more is waiting: an event, a line, the end of a body.
    static let smallSize = 16 << 10

    /// A piece of a streamed body for who keeps it for long: in memory of its own where it would keep more than twice its
    /// bytes.
    package static func keepable(_ piece: Data) -> Data {
        smallSize..<slabSize / 2 ~= piece.count ? piece.withUnsafeBytes { Data($0) } : piece
    }

    /// Memory that is being filled. `@unchecked Sendable` is sound because it has one owner at a time: the pool, or the
    /// pipe that fills it.
    struct Slab: @unchecked Sendable {
        fileprivate let start: UnsafeMutableRawPointer
        fileprivate(set) var count = 0

        var room: Int { SlabPool.slabSize - count }

        /// Takes bytes for which there is room.
        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            guard let source = bytes.baseAddress else { return }
            (start + count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }
    }

    /// Nil once it is closed.
    private let unused = Lock<[Slab]?>([])
    private let room: PipeRoom
    private let ledger: Ledger?

    /// - Parameter room: how many slabs are kept unused.
    init(in room: PipeRoom = PipeRoom(), ledger: Ledger? = nil) {
        self.room = room
        self.ledger = ledger
    }

    deinit {
        close()
    }

    /// An empty slab.
    func take() -> Slab {
        if let slab = unused.withLock({ $0?.popLast() }) { return slab }
        ledger?.add(.slab)
        return Slab(start: .allocate(byteCount: Self.slabSize, alignment: 16))
    }

    /// The bytes of a slab, whose memory comes back here when nobody has them any more.
    func data(of slab: Slab) -> Data {
        Data(bytesNoCopy: slab.start, count: slab.count, deallocator: .custom { start, _ in self.giveBack(start) })
    }

    /// The bytes of a slab in memory of their own; the slab comes back.
    func copy(of slab: Slab) -> Data {
        defer { discard(slab) }
        return Data(bytes: slab.start, count: slab.count)
    }

    /// Takes back a slab whose bytes nobody wants.
    func discard(_ slab: Slab) {
        giveBack(slab.start)
    }

    /// No slab will be taken any more. Who keeps a piece of a body keeps the memory of that piece alone.
    func close() {
        let slabs = unused.withLock { unused in
            defer { unused = nil }
            return unused ?? []
        }
        for slab in slabs { free(slab) }
    }

    private func giveBack(_ start: UnsafeMutableRawPointer) {
        let slab = Slab(start: start)
        let most = room.spareSlabs
        let isKept = unused.withLock { unused in
            guard let count = unused?.count, count < most else { return false }
            unused?.append(slab)
            return true
        }
        if !isKept { free(slab) }
    }

    private func free(_ slab: Slab) {
        slab.start.deallocate()
        ledger?.add(.slab, -1)
    }
}
