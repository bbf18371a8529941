import BeagleNetDependencies
public import BeagleNetHTTP

extension ViewClient {
    /// Returns the screen that an action shows if its own can't be fetched, and reports it as a finding.
    ///
    /// It is the `fallback` of a navigation's route in Beagle, and of `push` and `present` in Nimbus. The container's
    /// `screenCapabilities` report it once for each type of action; the log message has no other details of the action.
    ///
    /// - Parameters:
    ///   - action: The action whose screen was fetched.
    ///   - error: The error of the fetch.
    /// - Returns: The JSON of the fallback; `nil` if the action has none, or if the fetch was cancelled.
    public func fallback(of action: ScreenAction, after error: NetworkError) -> JSONValue? {
        guard !error.isCancelled, let fallback = action.fallback else { return nil }
        let container = currentClient.container
        let finding = ScreenCapabilities.Finding(.fallback, action.type, screen: "")
        container.screenCapabilities?.record.report(finding, to: container.logger)
        return fallback
    }

    /// Reports the components and actions of a screen that the app doesn't have.
    func inspect(_ response: NetworkResponse, _ container: BeagleDependencies) {
        guard let capabilities = container.screenCapabilities else { return }
        let outline: ScreenOutline
        do throws(NetworkError) {
            outline = try ParsedScreen(outlining: response.data, vocabulary: capabilities.vocabulary).outline
        } catch {
            // The screen was decoded, so it is in a format other than JSON.
            return
        }
        for element in outline.elements where !element.isData && !element.type.isEmpty {
            guard !capabilities.contains(element) else { continue }
            let finding = ScreenCapabilities.Finding(
                element.isAction ? .unknownAction : .unknownComponent,
                element.type,
                screen: container.redactor.redact(url: response.url)
            )
            capabilities.record.report(finding, to: container.logger)
        }
    }
}

extension ScreenAction {
    fileprivate var fallback: JSONValue? {
        let fallback = member("route")?["fallback"] ?? member("fallback")
        return fallback?.object == nil ? nil : fallback
    }
}
