package import BeagleNetHTTP

/// A pool of memory for the pieces of one streamed body, reused after the reader releases them.
///
/// New memory costs a page fault per 4 KiB, which is half of the other cost of a fast body.
package final class SlabPool: Sendable {
    static let slabSize = 128 << 10
    /// The size below which pieces are copied, so that retaining one doesn't retain a slab. libcurl delivers at least
    /// this much at a time while more is pending, so smaller pieces are events, lines or the end of a body.
    static let smallSize = 16 << 10

    /// Returns a piece of a streamed body for long-term storage: in memory of its own if it would otherwise retain more
    /// than twice its size.
    package static func compacted(_ piece: Data) -> Data {
        smallSize..<slabSize / 2 ~= piece.count ? piece.withUnsafeBytes { Data($0) } : piece
    }

    /// Memory that is being filled. `@unchecked Sendable` is sound because it has one owner at a time: the pool, or the
    /// pipe that fills it.
    struct Slab: @unchecked Sendable {
        fileprivate let start: UnsafeMutableRawPointer
        fileprivate(set) var count = 0

        var room: Int { SlabPool.slabSize - count }

        /// Appends bytes; the caller checks that they fit.
        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            guard let source = bytes.baseAddress else { return }
            (start + count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }
    }

    /// The unused slabs; `nil` once the pool is closed.
    private let unused = Lock<[Slab]?>([])
    private let room: BufferBudget
    private let resourceTracker: ResourceTracker?

    /// - Parameter room: The limit on the number of unused slabs.
    init(in room: BufferBudget = BufferBudget(), resourceTracker: ResourceTracker? = nil) {
        self.room = room
        self.resourceTracker = resourceTracker
    }

    deinit {
        close()
    }

    /// Returns an empty slab.
    func take() -> Slab {
        if let slab = unused.withLock({ $0?.popLast() }) { return slab }
        resourceTracker?.add(.slab)
        return Slab(start: .allocate(byteCount: Self.slabSize, alignment: 16))
    }

    /// Returns the bytes of a slab without a copy. The memory returns to the pool once they are released.
    func data(of slab: Slab) -> Data {
        Data(bytesNoCopy: slab.start, count: slab.count, deallocator: .custom { start, _ in self.giveBack(start) })
    }

    /// Returns a copy of a slab's bytes and returns the slab to the pool.
    func copy(of slab: Slab) -> Data {
        defer { discard(slab) }
        return Data(bytes: slab.start, count: slab.count)
    }

    /// Returns a slab whose bytes aren't needed to the pool.
    func discard(_ slab: Slab) {
        giveBack(slab.start)
    }

    /// Closes the pool. Pieces that are still retained keep only their own memory.
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
        resourceTracker?.add(.slab, -1)
    }
}
