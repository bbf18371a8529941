import BeagleNetGraphQL
import Foundation

/// The cost of GraphQL beside the network, in CPU of one thread.
@main
struct BenchGraphQL {
    static func main() async throws {
        let document = document(ofBytes: 1024)
        try await report("read a document of \(document.utf8.count) bytes") {
            _ = try GraphQLDocument(parsing: document).operation(named: nil).responseKeys
        }
        try await report("find it again") {
            _ = try GraphQLDocument.cached(document).operation(named: nil).responseKeys
        }
        for count in [5, 500] {
            let body = answer(ofPosts: count)
            let client = StubClient { _ in
                var response = HTTPResponse(status: .ok)
                response.headerFields[.contentType] = "application/graphql-response+json"
                return NetworkResponse(data: body, response: response)
            }
            let operation = GraphQLOperation<IDInput, [Post]>(
                input: IDInput(id: "1"),
                operationString: "query Posts($id: ID!) { posts(of: $id) { id title body } }"
            )
            let endpoint = GraphQLEndpoint("http://localhost/graphql")
            let request = Request(url: URL(filePath: "/"), type: .rawRequest(Request.RequestData()))
            try await report("request and JSONDecoder, \(body.count) bytes") {
                let response = try await client.executeRequest(request)
                _ = try JSONDecoder().decode(Envelope.self, from: response.data).data.posts.count
            }
            try await report("operation, \(body.count) bytes") {
                _ = try await client.perform(operation, at: endpoint).count
            }
        }
    }

    /// The median of 5 runs.
    private static func report(_ name: String, _ body: () async throws -> Void) async throws {
        var times: [Double] = []
        for _ in 0..<5 {
            var (count, start) = (0, cpu())
            let end = start + 0.2
            for _ in 0..<20 { try await body() }
            start = cpu()
            while cpu() < end {
                for _ in 0..<20 { try await body() }
                count += 20
            }
            times.append((cpu() - start) / Double(max(1, count)) * 1_000_000)
        }
        print(name.padding(toLength: 48, withPad: " ", startingAt: 0), String(format: "%8.2f", times.sorted()[2]), "µs")
    }

    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }

    private static func document(ofBytes count: Int) -> String {
        var text = "query Feed($first: Int!, $after: String) {\n  posts(first: $first, after: $after) {\n"
        var number = 0
        while text.utf8.count < count - 40 {
            text += "    field\(number)(size: \(number), name: \"x\") { id title }\n"
            number += 1
        }
        return text + "  }\n}\n"
    }

    private static func answer(ofPosts count: Int) -> Data {
        let post = #"{"id":"1","title":"a title of some length","body":"\#(String(repeating: "words ", count: 20))"}"#
        return Data(#"{"data":{"posts":[\#(Array(repeating: post, count: count).joined(separator: ","))]}}"#.utf8)
    }
}

private struct Post: Decodable {
    let id: String
    let title: String
    let body: String
}

private struct Envelope: Decodable {
    struct Root: Decodable { let posts: [Post] }
    let data: Root
}
