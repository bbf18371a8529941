import FlyingSocks

/// A body that breaks off before its first byte, as where the connection is lost.
struct LostAnswer: AsyncBufferedSequence {
    struct Iterator: AsyncBufferedIteratorProtocol {
        mutating func next() async throws -> UInt8? { throw SocketError.disconnected }
        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? { throw SocketError.disconnected }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}
