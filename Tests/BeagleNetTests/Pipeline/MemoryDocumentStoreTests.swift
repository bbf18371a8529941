import BeagleNet
import BeagleNetTesting
import Testing

@Suite(.beagle(), .timeLimit(.minutes(1))) struct MemoryDocumentStoreTests {
    /// Operations of a client, which have keys.
    private func operations(_ count: Int) async throws -> [NetworkOperation] {
        let answers = Answers(.success(.init("1")))
        let client = client(answers)
        for number in 0..<count {
            let url = URL(string: "http://host/\(number)")!
            _ = try await client.run(NetworkOperation(Request(url: url, type: .fetchComponent)))
        }
        return answers.asked.withLock { $0 }
    }

    private func response(_ bytes: Int) -> NetworkResponse {
        NetworkResponse(data: Data(count: bytes))
    }

    private func kept(_ store: MemoryDocumentStore, of operations: [NetworkOperation]) -> [Int] {
        operations.indices.filter { store.document(for: operations[$0]) != nil }
    }

    @Test func whatWasAskedForLongestAgoGoesFirst() async throws {
        let operations = try await operations(5)
        let store = MemoryDocumentStore(maxEntries: 3)
        for operation in operations[0..<3] { store.store(response(1), for: operation) }
        _ = store.document(for: operations[0])
        store.store(response(1), for: operations[3])
        #expect(kept(store, of: operations) == [0, 2, 3])
        store.store(response(1), for: operations[4])
        #expect(kept(store, of: operations) == [2, 3, 4])
        #expect(store.count == 3)
    }

    @Test func bytesAreLimited() async throws {
        let operations = try await operations(6)
        let store = MemoryDocumentStore(maxBytes: 40_000)
        for operation in operations[0..<4] { store.store(response(8_976), for: operation) }
        #expect(store.bytes == 40_000)
        store.store(response(1), for: operations[4])
        #expect(kept(store, of: operations) == [1, 2, 3, 4])
        #expect(store.bytes == 3 * 10_000 + 1_025)
        store.store(response(8_977), for: operations[5])
        #expect(kept(store, of: operations) == [1, 2, 3, 4], "more than a quarter")
        store.store(response(8_977), for: operations[1])
        #expect(kept(store, of: operations) == [2, 3, 4], "an older one doesn't stay in its place")
        store.removeAll()
        #expect(store.bytes == 0)
        #expect(store.count == 0)
    }

    /// A head, one of a 1xx and trailers may be as long as bodies.
    @Test func whatStandsAroundABodyCounts() async throws {
        let operation = try await operations(1)[0]
        let fields: HTTPFields = [.eTag: String(repeating: "a", count: 8_976)]
        let responses = [
            NetworkResponse(response: HTTPResponse(status: .ok, headerFields: fields)),
            NetworkResponse(trailers: fields),
            NetworkResponse(
                TransferResponse(
                    head: HTTPResponse(status: .ok),
                    body: HTTPBody(Data()),
                    url: "",
                    interim: [HTTPResponse(status: .init(code: 103), headerFields: fields)]
                )
            ),
        ]
        for var response in responses {
            let store = MemoryDocumentStore(maxBytes: 4 * 10_004)
            store.store(response, for: operation)
            #expect(store.bytes == 10_004)
            response.data = Data(count: 1)
            store.store(response, for: operation)
            #expect(store.count == 0, "more than a quarter")
        }
    }

    @Test func aNewerAnswerTakesThePlaceOfAnOlder() async throws {
        let operation = try await operations(1)[0]
        let store = MemoryDocumentStore()
        for bytes in [3, 1, 2] { store.store(response(bytes), for: operation) }
        #expect(store.document(for: operation)?.response.data.count == 2)
        #expect(store.count == 1)
        #expect(store.bytes == 2 + 1_024)
        store.remove(operation)
        #expect(store.document(for: operation) == nil)
        #expect(store.bytes == 0)
    }

    @Test(arguments: [(0, 10), (1 << 20, 0), (-1, -1)]) func noRoomKeepsNothing(maxBytes: Int, maxEntries: Int)
        async throws
    {
        let operation = try await operations(1)[0]
        let store = MemoryDocumentStore(maxBytes: maxBytes, maxEntries: maxEntries)
        store.store(response(1), for: operation)
        #expect(store.count == 0)
    }

    @Test func theAgeIsByTheOperationsClock() async throws {
        let clock = ManualClock()
        Beagle.dependencies.clock = clock
        let operation = try await operations(1)[0]
        let store = MemoryDocumentStore()
        store.store(response(1), for: operation)
        clock.advance(by: .seconds(7))
        #expect(store.document(for: operation)?.age == .seconds(7))
    }

    @Test("any order of calls leaves what a plain list would") func itIsAList() async throws {
        let operations = try await operations(12)
        let store = MemoryDocumentStore(maxEntries: 5)
        var model: [Int] = []
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let one = Int.random(in: operations.indices, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                store.remove(operations[one])
                model.removeAll { $0 == one }
            case 1...4:
                let isThere = store.document(for: operations[one]) != nil
                #expect(isThere == model.contains(one))
                if isThere { model = model.filter { $0 != one } + [one] }
            default:
                store.store(response(1), for: operations[one])
                model = model.filter { $0 != one } + [one]
                model = model.suffix(5)
            }
            #expect(store.count == model.count)
        }
        #expect(kept(store, of: operations) == model.sorted())
    }

    @Test func manyMayUseItAtOnce() async throws {
        let operations = try await operations(64)
        let store = MemoryDocumentStore(maxEntries: 16)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask {
                    for round in 0..<500 {
                        store.store(NetworkResponse(), for: operations[(part * 7 + round) % 64])
                        _ = store.document(for: operations[(part + round * 3) % 64])
                    }
                }
            }
        }
        #expect(store.count == 16)
        #expect(store.bytes == 16 * 1_024)
    }
}
