public import BeagleNetHTTP

/// An action of a screen, such as `beagle:sendRequest`.
///
/// ```swift
/// if let request = try action.request(in: context) {
///     client.executeRequest(request) { result in
///         run(action.actions(after: result), in: context.after(result))
///     }
/// }
/// ```
public struct ScreenAction: Sendable, Hashable {
    /// The JSON of the action, with its expressions.
    public let json: JSONValue
    /// The type as the screen spells it, such as `beagle:sendRequest`.
    public let type: String
    /// The position of the action as a JSON pointer (RFC 6901), for error messages; empty, the default, if it isn't known.
    public let pointer: String

    /// Creates an action from its JSON, or returns `nil` if the JSON isn't an object with `_beagleAction_` or `_:action`.
    ///
    /// - Parameters:
    ///   - json: The JSON of the action.
    ///   - pointer: The position of the action in its screen as a JSON pointer; empty by default.
    public init?(_ json: JSONValue, at pointer: String = "") {
        guard let type = json["_beagleAction_"]?.string ?? json["_:action"]?.string else { return nil }
        self.json = json
        self.type = type
        self.pointer = pointer
    }

    /// The member with this name. Actions of Nimbus have their members in `properties`.
    func member(_ name: String) -> JSONValue? {
        json["_beagleAction_"] == nil ? json["properties"]?[name] : json[name]
    }

    /// The position of a member.
    func pointer(to name: String) -> String {
        pointer + (json["_beagleAction_"] == nil ? "/properties/" : "/") + JSONPointer.escaped(name)
    }

    /// Returns the actions of an event, such as `onSuccess`, in their order.
    public func actions(of event: String) -> [ScreenAction] {
        ScreenAction.list(member(event), at: pointer(to: event))
    }

    /// Returns the actions to run after a request: those of `onSuccess` or `onError`, then those of `onFinish`.
    public func actions(after result: NetworkClient.NetworkResult) -> [ScreenAction] {
        let isSuccess = if case .success = result { true } else { false }
        return actions(of: isSuccess ? "onSuccess" : "onError") + actions(of: "onFinish")
    }

    /// Reads a list of actions, or one action as in Beagle 1.x.
    static func list(_ value: JSONValue?, at pointer: String) -> [ScreenAction] {
        guard let elements = value?.array else {
            return value.flatMap { ScreenAction($0, at: pointer) }.map { [$0] } ?? []
        }
        return elements.enumerated().compactMap { ScreenAction($1, at: "\(pointer)/\($0)") }
    }
}
