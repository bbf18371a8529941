import BeagleNet
import Foundation

@main struct BenchPipeline {
    static let count = 50_000

    static func main() async throws {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let client = NetworkClientDefault(dependencies: dependencies, transport: InstantTransport())
        let builder = dependencies.httpRequestBuilder
        let requests = (0..<64).map { Request(url: URL(string: "http://host/screen/\($0)")!, type: .fetchComponent) }
        let forms = (0..<64).map { Request(url: URL(string: "http://host/screen/\($0)")!, type: .rawRequest(.init())) }

        func row(_ name: String, _ tally: Tally) {
            print("\(name): \(Int(tally.nanoseconds)) ns, \(tally.allocations) allocations")
        }
        row(
            "build the message",
            try await .of(count) {
                for index in 0..<count { _ = try builder.build(requests[index & 63]) }
            }
        )
        row(
            "run, shared, alone",
            try await .of(count) {
                for index in 0..<count { _ = try await client.run(NetworkOperation(requests[index & 63])) }
            }
        )
        row(
            "run, not shared",
            try await .of(count) {
                for index in 0..<count { _ = try await client.run(NetworkOperation(forms[index & 63])) }
            }
        )
        row(
            "watch and leave",
            await .of(count) {
                for index in 0..<count { client.watch(NetworkOperation(requests[index & 63])) { _ in }?.cancel() }
            }
        )
        var tokens: [any RequestToken] = []
        for index in 0..<10_000 {
            let request = Request(url: URL(string: "http://host/waiting/\(index)")!, type: .fetchComponent)
            if let token = client.watch(NetworkOperation(request), { _ in }) { tokens.append(token) }
        }
        row(
            "watch and leave, 10,000 active",
            await .of(count) {
                for index in 0..<count { client.watch(NetworkOperation(requests[index & 63])) { _ in }?.cancel() }
            }
        )
        row(
            "run, shared, 10,000 active",
            try await .of(count) {
                for index in 0..<count { _ = try await client.run(NetworkOperation(requests[index & 63])) }
            }
        )
        for token in tokens { token.cancel() }
    }
}
