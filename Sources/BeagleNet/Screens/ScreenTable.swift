/// A vocabulary in the form in which a document is compared with it: numbers for names, and a tree of the members of
/// each type.
final class ScreenTable: Sendable {
    /// The members of objects of one type, or at one path of a type.
    struct Node {
        var edges: Range<Int> = 0..<0
        /// Whether objects here hold data, in which members have no meaning unless an edge gives them one.
        var isData = false
        var isForm = false
        /// Whether objects here declare a context.
        var isContext = false
    }

    /// A member of a node, and its meaning.
    struct Edge {
        enum Role: UInt8 {
            case none, skipped, data, url, plainURL, imagePath, reference, method, headers, body, prefetch, localScreen
            case fallback, navigationType, items, iteratorName, indexName, alternatives, template, templateCase
            case contextID, contextValue, changedContext, submission, inputName
        }

        var name: UInt16 = 0
        var role = Role.none
        var kind = ReferenceKind.unknown
        /// The node of the objects below the member.
        var node: UInt16 = 0
        var note: UInt8 = 0
        /// The number of containers between the element that a note belongs to and the member.
        var noteDepth: UInt8 = 0
    }

    /// A type of components, actions or image paths, whose name is a part of `typeNames`.
    struct TypeEntry {
        let start: Int32
        let count: Int32
        let family: ScreenRule.Family
        let node: UInt16
    }

    /// The node of objects without a type, and of the data in contexts.
    static let anyNode: UInt16 = 0
    static let dataNode: UInt16 = 1

    let nodes: ContiguousArray<Node>
    let edges: ContiguousArray<Edge>
    /// For each name, its edge of any object, or -1.
    let anyEdges: ContiguousArray<Int16>
    let names: NameTable
    /// For each name, its marker, or `nil`.
    let markers: ContiguousArray<ScreenMarker?>
    /// Whether a marker begins with a byte.
    let beginsMarker: ContiguousArray<Bool>
    let eventTimes: ContiguousArray<EventTime>
    /// The names of the outermost object's identifier.
    let idNames: [UInt16]
    /// The node of a screen that doesn't name its type.
    let screenNode: UInt16?
    private let types: ContiguousArray<TypeEntry>
    private let typeNames: ContiguousArray<UInt8>
    /// The positions of the types by the hash of their name; 0 is free.
    private let typeSlots: ContiguousArray<UInt16>
    private let longestType: Int

    init(_ markers: [ScreenMarker], _ rules: [ScreenRule]) {
        var builder = ScreenTableBuilder()
        for rule in rules { builder.add(rule) }
        for marker in markers { _ = builder.names.number(of: marker.name) }
        for event in ScreenVocabulary.events.keys { _ = builder.names.number(of: event) }
        idNames = ["id", "identifier"].map { builder.names.number(of: $0) }
        let names = builder.names
        let (nodes, edges) = builder.flattened()
        (self.nodes, self.edges, self.names) = (nodes, edges, names)

        var anyEdges = ContiguousArray<Int16>(repeating: -1, count: names.count)
        for edge in nodes[Int(Self.anyNode)].edges { anyEdges[Int(edges[edge].name)] = Int16(edge) }
        self.anyEdges = anyEdges
        var found = ContiguousArray<ScreenMarker?>(repeating: nil, count: names.count)
        for marker in markers { found[Int(names.number(marker.name))] = marker }
        self.markers = found
        var beginnings = ContiguousArray(repeating: false, count: 256)
        for byte in markers.compactMap(\.name.utf8.first) { beginnings[Int(byte)] = true }
        beginsMarker = beginnings
        var times = ContiguousArray(repeating: EventTime.action, count: names.count)
        for (event, time) in ScreenVocabulary.events { times[Int(names.number(event))] = time }
        eventTimes = times

        longestType = builder.types.map(\.name.count).max() ?? 0
        var (types, typeNames) = (ContiguousArray<TypeEntry>(), ContiguousArray<UInt8>())
        var slots = ContiguousArray<UInt16>(repeating: 0, count: NameTable.slotCount(for: builder.types.count))
        for type in builder.types {
            types.append(
                TypeEntry(
                    start: Int32(typeNames.count),
                    count: Int32(type.name.count),
                    family: type.family,
                    node: type.node
                )
            )
            typeNames += type.name
            var slot = type.name.withUnsafeBufferPointer { Self.hash($0) } & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt16(types.count)
        }
        screenNode = builder.types.first { $0.name.elementsEqual("beagle:screenComponent".utf8) }?.node
        (self.types, self.typeNames, typeSlots) = (types, typeNames, slots)
    }

    /// Returns a hash of a name's length and last eight bytes that is the same in upper and lower case.
    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var word: UInt64 = 0
        if name.count >= 8 {
            // The load ends with the buffer.
            word = UnsafeRawBufferPointer(name).loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
            word = UInt64(littleEndian: word)
        } else {
            for byte in name { word = word << 8 | UInt64(byte) }
        }
        word = (word | 0x2020_2020_2020_2020) ^ UInt64(name.count)
        return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }

    /// Returns the meaning of a member of an object at this node.
    @inline(__always)
    func edge(_ node: UInt16, _ name: UInt16) -> Edge {
        let isData = nodes[Int(node)].isData
        if name != 0 {
            for edge in nodes[Int(node)].edges where edges[edge].name == name { return edges[edge] }
            if !isData, anyEdges[Int(name)] >= 0 { return edges[Int(anyEdges[Int(name)])] }
        }
        return Edge(node: isData ? Self.dataNode : Self.anyNode)
    }

    /// Returns the node of a type, or `nil` if it isn't in the vocabulary.
    func node(ofType name: UnsafeBufferPointer<UInt8>, _ family: ScreenRule.Family) -> UInt16? {
        guard name.count <= longestType else { return nil }
        var slot = Self.hash(name) & (typeSlots.count - 1)
        while typeSlots[slot] != 0 {
            let type = types[Int(typeSlots[slot]) - 1]
            slot = (slot + 1) & (typeSlots.count - 1)
            if Int(type.count) == name.count, type.family == .any || type.family == family, isName(name, type, family) {
                return type.node
            }
        }
        return nil
    }

    private func isName(_ name: UnsafeBufferPointer<UInt8>, _ type: TypeEntry, _ family: ScreenRule.Family) -> Bool {
        let start = Int(type.start)
        for place in name.indices where name[place] != typeNames[start + place] {
            guard family != .nimbus, name[place].asciiLowercased == typeNames[start + place].asciiLowercased else {
                return false
            }
        }
        return true
    }
}

extension UInt8 {
    /// The lower-case letter of an upper-case one of ASCII, or else the same byte.
    var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
