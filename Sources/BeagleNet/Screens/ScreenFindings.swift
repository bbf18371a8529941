/// The result of a walk.
struct ScreenFindings: Sendable {
    var rootType = JSONSpan.none
    var rootID = JSONSpan.none
    var rootForm: ScreenMarker.Form?
    /// Whether the outermost object is one of Nimbus.
    var isNimbus = false
    var records: ContiguousArray<ScreenRecord> = []
    var parts: ContiguousArray<ScreenRequestParts> = []
    var omitted = 0
    var paths = ScreenPaths()
    var scopes: [Scope] = []
    var lists: [List] = []
    /// The inputs of each form, as a range of `inputs`.
    var forms: [Range<Int>] = []
    var inputs: [JSONSpan] = []
    /// The names of contexts that an action changes.
    var changedContexts: [JSONSpan] = []
    var outline = ScreenOutline()

    /// Returns the parts of a record's request.
    func parts(of record: ScreenRecord) -> ScreenRequestParts {
        record.parts < 0 ? .none : parts[Int(record.parts)]
    }
}

extension ScreenFindings {
    /// The interval of the document, and of the records, in which a context or the element of a list can be used.
    struct Scope: Sendable {
        enum Content: Sendable {
            case context(id: JSONSpan, value: UInt32)
            /// A template: a component that is shown for each element of a list. Of several alternatives, one is shown.
            case template(list: Int32, case: JSONSpan, isAlternative: Bool)
        }

        var content: Content
        let start: UInt32
        /// The records inside.
        var records: Range<Int>
        /// The index of the next scope that isn't inside of this one.
        var next = 0
    }

    /// A list, whose templates are shown for each of its items.
    struct List: Sendable {
        /// The position of the array, or of the string with an expression for it, or 0.
        var items: UInt32 = 0
        var iteratorName = JSONSpan.none
        var indexName = JSONSpan.none
    }
}

/// The parts of a request other than its URL.
struct ScreenRequestParts: Sendable {
    static let none = ScreenRequestParts()

    var method = JSONSpan.none
    var headers = JSONSpan.none
    var body = JSONSpan.none
}
