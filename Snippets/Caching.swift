// Stored responses: request policies, maximum age, separate users, and refetching watched operations.
import BeagleNet
import BeagleNetDiskCache

func store(_ dependencies: BeagleDependencies) {
    // snippet.store
    dependencies.interceptors.add(CacheInterceptor(MemoryResponseStore(maxBytes: 32 << 20)))
    dependencies.interceptors.add(RequestPolicyInterceptor(ttl: .seconds(60)))
    // snippet.end
}

func ask(_ client: any NetworkClient, _ show: @escaping @Sendable (NetworkOperation.Result) -> Void) async throws {
    // snippet.policy
    let request = Request(url: URL(string: "https://api.example.com/home")!, type: .fetchComponent)
    let home = NetworkOperation(request, policy: .cacheAndNetwork)
    show(try await client.run(home) { earlier in show(earlier) })
    // snippet.end
}

func signOut(
    _ client: any NetworkClient,
    _ auth: AuthInterceptor<String>,
    _ dependencies: BeagleDependencies,
    _ store: any ResponseStore
) async {
    // snippet.signOut
    auth.reset()
    client.endAll()
    dependencies.partition = ""
    await store.removeAll()
    // snippet.end
}

func refetch(_ client: any NetworkClient, foreground: AsyncStream<Void>, networkReturn: AsyncStream<Void>) {
    // snippet.refetch
    client.refetch(on: foreground)
    client.refetch(on: networkReturn, .networkOnly)
    // snippet.end
}

func storeOnDisk(_ dependencies: BeagleDependencies, _ folder: String) throws {
    // snippet.disk
    let disk = try DiskResponseStore(folder: folder, maxBytes: 150 << 20) { problem in print(problem) }
    dependencies.interceptors.add(CacheInterceptor(TieredResponseStore(disk: disk)))
    // snippet.end
}
