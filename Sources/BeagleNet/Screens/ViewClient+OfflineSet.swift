import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ViewClient {
    /// Screens that are kept for use without a network, with the screens that they lead to, their lazy components and
    /// images.
    ///
    /// ```swift
    /// let set = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")], depth: 2)
    /// try await set.refresh()
    /// if !set.isComplete { print(set.missing) }
    /// ```
    ///
    /// A set fetches everything into the store of the client's `CacheInterceptor`; with a store on the disk it is there
    /// after the app was started again. Open a screen of the set as any other: `ViewClient.fetch` uses the stored one
    /// if the server can't be reached, and says how old it is. The store evicts the least recently used responses,
    /// those of sets too, if it is full; `check()` finds out. Signing out removes the responses of the user's
    /// `partition` from the store.
    public final class OfflineSet: Sendable {
        /// A part of the set, and the reason why it isn't stored.
        public struct Missing: Sendable {
            /// The URL of the screen, lazy component or image as the screen has it.
            public let url: String
            /// The purpose of the part.
            public let kind: ScreenPlan.Reference.Kind
            /// The screen that leads to it; `nil` for a route of the set.
            public let parent: String?
            /// The failure; `.notStored` if the server forbids to store the response, or if the response was evicted.
            public let error: NetworkError
        }

        /// A part of the set that is stored.
        public struct Part: Sendable {
            /// The URL of the screen, lazy component or image as the screen has it.
            public let url: String
            /// The purpose of the part.
            public let kind: ScreenPlan.Reference.Kind
            /// The size of its body in bytes.
            public let bytes: Int
            /// The time since the response was received, or validated.
            public let age: Duration
            /// Whether the response may be outdated.
            public let isStale: Bool
        }

        private struct State {
            var parts: [Part] = []
            var missing: [Missing] = []
            var wasChecked = false
        }

        /// The name of the set.
        public let name: String
        /// The screens at which the set begins.
        public let routes: [ScreenRequest]
        /// The number of routes from a screen of `routes` to the last ones of the set; 0 keeps only `routes`.
        public let depth: Int
        /// Whether the set has images.
        public let includesImages: Bool
        /// The maximum number of parts.
        public let maxParts: Int
        private let vocabulary: ScreenVocabulary
        private let formats: [ImageHeader.Format]
        private let allows: @Sendable (URL) -> Bool
        private let client: (any NetworkClient)?
        private let state = Lock(State())

        /// Describes a set; `refresh()` fetches it.
        ///
        /// - Parameters:
        ///   - name: A name, which isn't used for the store.
        ///   - routes: The screens at which the set begins.
        ///   - depth: The number of routes to follow from them; 1 by default.
        ///   - includesImages: Whether the set has images; `true` by default.
        ///   - maxParts: The maximum number of parts; 500 by default. Those beyond are missing.
        ///   - vocabulary: The names of the framework and the app.
        ///   - formats: The formats of the app's `ImageLoader`, so that the set has the images that it requests.
        ///   - allows: Returns whether a route that a screen leads to belongs to the set; all by default. Exclude
        ///     routes that change something although they are fetched with GET, such as the one that signs the user
        ///     out.
        ///   - client: The client; `nil`, the default, for the `networkClient` of the container that is current at a
        ///     refresh.
        public init(
            _ name: String,
            routes: [ScreenRequest],
            depth: Int = 1,
            includesImages: Bool = true,
            maxParts: Int = 500,
            vocabulary: ScreenVocabulary = .standard,
            formats: [ImageHeader.Format] = [],
            allows: @escaping @Sendable (URL) -> Bool = { _ in true },
            client: (any NetworkClient)? = nil
        ) {
            self.name = name
            self.routes = routes
            self.depth = max(0, depth)
            self.includesImages = includesImages
            self.maxParts = max(0, maxParts)
            self.vocabulary = vocabulary
            self.formats = formats
            self.allows = allows
            self.client = client
        }

        /// Whether everything was stored when the set was last refreshed or checked; `false` before.
        public var isComplete: Bool { state.withLock { $0.wasChecked && $0.missing.isEmpty } }
        /// The parts that aren't stored, with the reasons.
        public var missing: [Missing] { state.withLock { $0.missing } }
        /// The parts that are stored.
        public var parts: [Part] { state.withLock { $0.parts } }
        /// The size of all parts that are stored, in bytes.
        public var bytes: Int { parts.reduce(0) { $0 + $1.bytes } }

        /// Fetches everything that isn't stored or is stale, the screens first.
        ///
        /// A part that can't be fetched but is stored stays. Cancelling the task ends the refresh; the parts fetched so
        /// far stay.
        ///
        /// - Throws: `NetworkError` of kind `.cancelled` if the task was cancelled.
        public func refresh() async throws(NetworkError) { try await walk(refreshes: true) }

        /// Looks up everything in the store, without a request.
        ///
        /// - Throws: `NetworkError` of kind `.cancelled` if the task was cancelled.
        public func check() async throws(NetworkError) { try await walk(refreshes: false) }

        // MARK: - The walk

        /// A part that is to be visited.
        fileprivate struct Visit {
            let request: ScreenRequest
            let url: String
            let kind: ScreenPlan.Reference.Kind
            let parent: String?
            let depth: Int

            var headers: [String: String] { request.additionalData.headers }
        }

        /// The parts that are to be visited, those of the smallest depth first.
        private struct VisitQueue {
            private var levels: [[Visit]]
            private var (level, index) = (0, 0)

            init(_ first: [Visit]) { levels = [first] }

            mutating func add(_ visits: [Visit]) {
                for visit in visits {
                    // A part is at most one level below the one that leads to it.
                    if visit.depth >= levels.count { levels.append([]) }
                    levels[visit.depth].append(visit)
                }
            }

            mutating func next() -> Visit? {
                while level < levels.count, index == levels[level].count { (level, index) = (level + 1, 0) }
                guard level < levels.count else { return nil }
                defer { index += 1 }
                return levels[level][index]
            }
        }

        /// A part that was visited already.
        private struct SeenPart: Hashable {
            let url: String
            let isImage: Bool
            let headers: [String: String]
        }

        private func walk(refreshes: Bool) async throws(NetworkError) {
            let client = client ?? Beagle.dependencies.networkClient
            var found = State(wasChecked: true)
            let first = routes.map { route in
                Visit(request: route, url: "\(route.target)", kind: .route, parent: nil, depth: 0)
            }
            var seen: Set<SeenPart> = []
            // By depth: a part is visited at its smallest depth, from which most routes can be followed.
            var visits = VisitQueue(first)
            while let visit = visits.next() {
                do throws(NetworkError) {
                    let operation = try operation(for: visit, client)
                    let url = operation.request.url
                    if visit.kind == .route, visit.parent != nil, !allows(url) { continue }
                    let part = SeenPart(url: url.absoluteString, isImage: visit.kind == .image, headers: visit.headers)
                    guard seen.insert(part).inserted else { continue }
                    guard seen.count <= maxParts else { throw .tooManyParts(maxParts) }
                    let response = try await response(to: operation, client, refreshes)
                    // A screen that can't be parsed is missing, although its response is stored.
                    if visit.kind != .image {
                        try visits.add(
                            self.visits(from: response, of: visit, client.container, &found.missing)
                        )
                    }
                    found.parts.append(Part(visit, response))
                } catch {
                    if Task.isCancelled { throw error }
                    found.missing.append(
                        Missing(url: visit.url, kind: visit.kind, parent: visit.parent, error: error)
                    )
                }
            }
            state.withLock { [found] in $0 = found }
        }

        private func operation(for visit: Visit, _ client: any NetworkClient) throws(NetworkError) -> NetworkOperation {
            guard visit.kind == .image else { return try visit.request.operation(client) }
            let url = try visit.request.target.url(in: client.container)
            let headers = formats.accept.map { HttpAdditionalData(headers: ["Accept": $0]) }
            var operation = NetworkOperation(Request(url: url, type: .fetchImage, additionalData: headers))
            operation.partition = visit.request.partition
            return operation
        }

        /// The stored response, after it was fetched if necessary.
        private func response(
            to operation: NetworkOperation,
            _ client: any NetworkClient,
            _ refreshes: Bool
        ) async throws(NetworkError) -> NetworkResponse {
            var operation = operation
            var failure: NetworkError?
            if refreshes {
                operation.priorityControl = Priority.Control(.prefetch)
                operation.policy = .http
                do throws(NetworkError) {
                    _ = try await client.run(operation)
                } catch {
                    if Task.isCancelled { throw error }
                    failure = error
                }
                operation.priorityControl = nil
            }
            // Only what the store returns is there without a network.
            operation.policy = .cacheOnly
            do throws(NetworkError) {
                guard let response = try await client.run(operation).response else { throw .noResponse }
                return response
            } catch {
                throw failure ?? error
            }
        }

        /// The routes, lazy components and images of a screen.
        ///
        /// A part that the `ScreenRequest.Rules` forbid is added to `missing`.
        private func visits(
            from response: NetworkResponse,
            of visit: Visit,
            _ container: BeagleDependencies,
            _ missing: inout [Missing]
        ) throws(NetworkError) -> [Visit] {
            let plan = try ParsedScreen(parsing: response.data, vocabulary: vocabulary).plan
            let check = ScreenRequestCheck(screen: response.url, in: container)
            if plan.omittedCount > 0 {
                let error = NetworkError(
                    .tooLarge,
                    during: .response,
                    "\(plan.omittedCount) references of the screen were left out, because it has too many"
                )
                missing.append(Missing(url: visit.url, kind: visit.kind, parent: visit.parent, error: error))
            }
            return plan.references.compactMap { reference in
                guard let url = reference.resolvedURL, reference.isPrefetchable || reference.obstacle == .notMarked
                else {
                    return nil
                }
                let isRoute = reference.kind == .route
                let isIncludedImage = includesImages && reference.kind == .image
                guard isRoute ? visit.depth < depth : reference.kind == .lazy || isIncludedImage else {
                    return nil
                }
                do throws(NetworkError) {
                    try check.check(reference, container)
                } catch {
                    missing.append(Missing(url: url, kind: reference.kind, parent: visit.url, error: error))
                    return nil
                }
                var request = ScreenRequest(url)
                request.additionalData.headers = reference.headerFields
                request.partition = visit.request.partition
                return Visit(
                    request: request,
                    url: url,
                    kind: reference.kind,
                    parent: visit.url,
                    depth: visit.depth + (isRoute ? 1 : 0)
                )
            }
        }
    }
}

extension ViewClient.OfflineSet.Part {
    fileprivate init(_ visit: ViewClient.OfflineSet.Visit, _ response: NetworkResponse) {
        self.init(
            url: visit.url,
            kind: visit.kind,
            bytes: response.data.count,
            age: response.cacheStatus?.age ?? .zero,
            isStale: response.cacheStatus?.isStale ?? false
        )
    }
}

extension NetworkError {
    fileprivate static func tooManyParts(_ limit: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .build,
            "the set has more than \(limit) parts",
            advice: "increase maxParts, or choose a smaller depth"
        )
    }
}
