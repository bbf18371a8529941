/// The time at which a reference is needed, in one byte.
enum NeedTime: UInt8, Sendable {
    case render, initial, visible, action, template, fallback, data

    /// Returns the time of the actions of an event in an object that is needed at this time.
    func after(_ event: EventTime) -> NeedTime {
        switch (self, event) {
        case (.data, _), (.fallback, _), (.action, _): self
        case (.initial, .following), (.visible, .following): self
        case (_, .initial): .initial
        case (_, .visible): .visible
        default: .action
        }
    }
}

/// A container that the walk is in.
struct ScreenFrame {
    var isObject: Bool
    /// Whether a marker gave the object its type.
    var isTyped = false
    var isAction = false
    /// Whether this is the root of a template.
    var isRegion = false
    /// Whether actions here send a form.
    var submits = false
    /// Whether this object has an entry in the list of owners.
    var isOwner = false
    var time: NeedTime
    /// The position of the opening bracket.
    var start: UInt32
    /// The position of the current member's name, or the index of the current element.
    var step: UInt32 = 0
    /// The number of the current member's name, or of the member that holds this array.
    var name: UInt16 = 0
    /// The node of an object's members.
    var node: UInt16
    /// The meaning of this container, or of an array's elements.
    var edge = ScreenTable.Edge()
    /// The step of the path that leads here, or -1 if no reference needs it yet.
    var path: Int32 = -1
    /// The context that this object declares, or the scope of the template that begins here, or -1.
    var scope: Int32 = -1
    /// The innermost element of the outline, or -1.
    var element: Int32 = -1
}
