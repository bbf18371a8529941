import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

extension ViewClient {
    /// Prefetches what a screen leads to: the routes that it marks, its lazy components, and its images.
    ///
    /// References that can't be prefetched (`ScreenPlan.Reference.obstacle`) are left out, and so are URLs that the
    /// rules exclude. So are requests that the container's `ScreenRequest.Rules` forbid; the log has the reason.
    /// References are prefetched in the order of the plan.
    ///
    /// - Parameters:
    ///   - plan: The plan of the screen.
    ///   - source: The name of the screen, for `report(of:)`; empty by default.
    ///   - screen: The URL of the screen, for the `ScreenRequest.Rules`; `nil`, the default, if it has the origin of
    ///     the container's base URL.
    ///   - partition: The user, as in `ScreenRequest.partition`; empty by default.
    ///   - images: The prefetcher of the images; `nil`, the default, doesn't prefetch them.
    /// - Returns: The number of screens and lazy components that will be prefetched, or are already.
    @discardableResult
    public func prefetch(
        _ plan: ScreenPlan,
        from source: String = "",
        screen: String? = nil,
        partition: String = "",
        images: ImageLoader.Prefetcher? = nil
    ) -> Int {
        let container = currentClient.container
        let check = ScreenRequestCheck(screen: screen, in: container)
        var count = 0
        var imageRequests: [ImageRequest] = []
        for reference in plan.references where reference.isPrefetchable {
            guard let url = reference.resolvedURL else { continue }
            do throws(NetworkError) {
                try check.check(reference, container)
            } catch {
                container.logger.log(NetworkMessage("\(error.message), so it isn't prefetched", .warning))
                continue
            }
            switch reference.kind {
            case .route, .lazy:
                var request = ScreenRequest(url)
                request.additionalData.headers = reference.headerFields
                request.partition = partition
                if prefetch(request, from: source) { count += 1 }
            case .image:
                var request = ImageRequest(url)
                request.partition = partition
                imageRequests.append(request)
            default: break
            }
        }
        images?.prefetch(imageRequests)
        return count
    }
}

extension ScreenRequestCheck {
    /// Checks the request of a reference. Without a URL there is nothing to send.
    func check(_ reference: ScreenPlan.Reference, _ container: BeagleDependencies) throws(NetworkError) {
        guard let text = reference.resolvedURL, let url = container.urlBuilder.build(path: text) else { return }
        try check(RequestOfScreen(reference, to: url))
    }
}

extension ScreenPlan.Reference {
    /// The header fields whose values are texts, numbers or truth values.
    package var headerFields: [String: String] {
        guard let headers, case .object(let members)? = parsed(headers) else { return [:] }
        return members.compactMapValues { value in
            switch value {
            case .string(let text): text
            case .integer, .number, .bool: "\(value)"
            default: nil
            }
        }
    }

    private func parsed(_ json: Data) -> JSONValue? {
        do throws(NetworkError) {
            return try JSONValue(parsing: json)
        } catch {
            // The document was checked before.
            return nil
        }
    }
}
