import BeagleNet
import BeagleNetDiskCache
import BeagleNetTesting
import CurlPeers
import Testing

/// A client that stores responses on the disk, over libcurl and real sockets.
@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct DiskCacheClientTests {
    private let folder = StoreFolder()

    /// Runs work with a client that has a new store in the folder, as in an app that was started again.
    private func withClient<Value: Sendable>(
        _ interceptors: any Interceptor...,
        work: (any NetworkClient, TieredResponseStore) async throws -> Value
    ) async throws -> Value {
        let store = TieredResponseStore(disk: try folder.open())
        return try await Beagle.withDependencies {
            for interceptor in interceptors { $0.interceptors.add(interceptor) }
            $0.interceptors.replace(with: CacheInterceptor(store))
        } operation: {
            try await work(Beagle.dependencies.networkClient, store)
        }
    }

    private func operation(
        _ server: LoopbackServer,
        _ path: String = "/a",
        _ fields: [String: String] = [:],
        user: String = "",
        policy: RequestPolicy? = nil
    ) throws -> NetworkOperation {
        let url = try #require(URL(string: server.url + path))
        var operation = NetworkOperation(
            Request(url: url, type: .rawRequest(.init(method: "GET", headers: fields))),
            policy: policy
        )
        operation.partition = user
        return operation
    }

    private func text(_ client: any NetworkClient, _ operation: NetworkOperation) async throws -> String {
        let result = try await client.run(operation)
        return
            "\(result.source == .cache ? "stored " : "")\(String(decoding: result.response?.data ?? Data(), as: UTF8.self))"
    }

    @Test func responsesOutliveTheProcessAndAreValidated() async throws {
        let server = try LoopbackServer { request in
            if request["if-none-match"] == "\"1\"" { return .response(304, ["ETag": "\"1\""]) }
            return .response(
                200,
                ["ETag": "\"1\"", "Cache-Control": request.target == "/a" ? "max-age=60" : "no-cache"],
                "1"
            )
        }
        for expected in ["1", "stored 1", "stored 1"] {
            try await withClient { client, _ async throws in
                #expect(try await text(client, operation(server)) == expected)
            }
        }
        #expect(server.requests.count == 1)
        for _ in 0..<2 {
            try await withClient { client, _ async throws in
                #expect(try await text(client, operation(server, "/b")) == "1")
            }
        }
        #expect(server.requests.map { $0["if-none-match"] } == [nil, nil, "\"1\""])
        #expect(folder.problems == [])
    }

    @Test func screenIsShownWithoutTheServer() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "{}"))
        let request = Request(url: try #require(URL(string: "\(server.url)/home")), type: .fetchComponent)
        try await withClient { client, _ async throws in
            #expect(try await client.run(NetworkOperation(request)).source == .network)
        }
        server.stop()
        try await withClient { client, _ async throws in
            let result = try await client.run(NetworkOperation(request))
            #expect(result.source == .cache)
            #expect(result.isStale)
            #expect(result.response?.response.headerFields[.age] != nil)
        }
    }

    @Test func variantsAreDistinguishedByDigests() async throws {
        let server = try LoopbackServer { request in
            .response(200, ["Cache-Control": "max-age=60", "Vary": "X-Theme"], request["x-theme"] ?? "")
        }
        for prefix in ["", "stored "] {
            for theme in ["secret-dark", "secret-light"] {
                try await withClient { client, _ async throws in
                    let operation = try operation(server, "/a", ["X-Theme": theme], user: "a")
                    #expect(try await text(client, operation) == prefix + theme)
                }
            }
        }
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["Accept", "Authorization"]) func usersNeverShareResponses(vary: String) async throws {
        let server = try LoopbackServer { request in
            let user = request["authorization"] == "Bearer token-of-a" ? "a" : "b"
            return .response(200, ["Cache-Control": "max-age=60", "Vary": vary], "for \(user)")
        }
        let (a, b) = (["Authorization": "Bearer token-of-a"], ["Authorization": "Bearer token-of-b"])
        try await withClient { client, _ async throws in
            #expect(try await text(client, operation(server, "/?key=secret", a, user: "user-a")) == "for a")
            // Without the name of a user it stays in memory.
            #expect(try await text(client, operation(server, "/?key=secret", b)) == "for b")
            #expect(try await text(client, operation(server, "/?key=secret", b)) == "stored for b")
        }
        let files = String(decoding: try folder.everything(), as: UTF8.self)
        for secret in ["token-of", "user-a", "key=secret"] { #expect(!files.contains(secret)) }
        try await withClient { client, store async throws in
            #expect(try await text(client, operation(server, "/?key=secret", b)) == "for b")
            #expect(try await text(client, operation(server, "/?key=secret", b, user: "user-b")) == "for b")
            #expect(try await text(client, operation(server, "/?key=secret", a, user: "user-a")) == "stored for a")
            // a signs out.
            await store.removeAll(of: "user-a")
            #expect(try await text(client, operation(server, "/?key=secret", a, user: "user-a")) == "for a")
            await store.removeAll(of: "user-a")
        }
        try await withClient { client, _ async throws in
            #expect(try await text(client, operation(server, "/?key=secret", b, user: "user-b")) == "stored for b")
        }
        #expect(!String(decoding: try folder.everything(), as: UTF8.self).contains("for a"))
    }

    @Test func secondProcessSeesChangesOfTheFirst() async throws {
        let count = Lock(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(200, ["Cache-Control": "max-age=60"], "\(number)")
        }
        try await withClient { first, _ async throws in
            try await withClient { second, _ async throws in
                #expect(try await text(first, operation(server)) == "1")
                #expect(try await text(second, operation(server)) == "stored 1")
                #expect(try await text(first, operation(server, policy: .networkOnly)) == "2")
            }
        }
        try await withClient { third, _ async throws in #expect(try await text(third, operation(server)) == "stored 2")
        }
    }

    @Test func noStoreNeverReachesTheDisk() async throws {
        let server = try LoopbackServer(.response(200, ["Cache-Control": "no-store", "ETag": "\"1\""], "planted-body"))
        for policy in RequestPolicy.allCases where policy != .cacheOnly {
            try await withClient { client, _ async throws in
                #expect(try await text(client, operation(server, policy: policy)) == "planted-body")
            }
        }
        #expect(!String(decoding: try folder.everything(), as: UTF8.self).contains("planted-body"))
    }
}
