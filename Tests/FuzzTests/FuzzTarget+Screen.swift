@testable import BeagleNet
import BeagleNetHTTP

extension FuzzTarget {
    /// The first byte selects the vocabulary, and the rest is a screen. The walk accepts the same documents as the other
    /// parser, its pointers lead to the URLs, and it finds the same every time.
    static func fuzzScreen(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let document = Data(bytes.dropFirst())
        let vocabulary = vocabularies[Int(first) % vocabularies.count]
        guard let screen = parsed(document, vocabulary) else { return }
        precondition(texts(of: screen) == parsed(document, vocabulary).map(texts), "the plan isn't always the same")
        guard let root = try? ParsedJSON(document).root else { return }
        for reference in screen.plan.references {
            if let node = root.node(at: reference.pointer) {
                precondition(node.string == reference.url, "\(reference.pointer) doesn't lead to \(reference.url)")
            }
        }
        _ = try? ParsedScreen(outlining: document, vocabulary: vocabulary)
    }

    private static let vocabularies: [ScreenVocabulary] = {
        var declared = ScreenVocabulary.standard
        let roles: [(String, ScreenVocabulary.Role)] = [
            ("custom:a.u", .image), ("custom:a.b.u", .route), ("custom:a.i", .items), ("custom:a.t", .template),
            ("beagle:container.children.path", .lazy),
        ]
        for (key, role) in roles { try? declared.declare(key, as: role) }
        return [.standard, .beagle1, .beagle2, .nimbus, declared]
    }()

    /// Parses a screen, if it is valid for the other parser, whose documents may only be less deep.
    private static func parsed(_ document: Data, _ vocabulary: ScreenVocabulary) -> ParsedScreen? {
        do throws(NetworkError) {
            let screen = try ParsedScreen(parsing: document, vocabulary: vocabulary, maxReferences: 200)
            if let error = refusal(of: document) {
                precondition(error.message.contains("levels deep"), "only the walk accepts the document: \(error)")
            }
            return screen
        } catch {
            precondition(refusal(of: document) != nil, "only the walk refuses the document: \(error)")
            precondition(error.message.contains("line ") && error.message.contains("($"), "an error without a place")
            return nil
        }
    }

    private static func refusal(of document: Data) -> NetworkError? {
        do throws(NetworkError) {
            _ = try JSONValue(parsing: document)
            return nil
        } catch {
            return error
        }
    }

    /// All texts of a plan.
    private static func texts(of screen: ParsedScreen) -> [String] {
        var texts = [screen.type ?? "", screen.id ?? "", "\(screen.plan.omittedCount)"]
        for reference in screen.plan.references {
            texts += [reference.pointer, reference.kind.rawValue, reference.when.rawValue, reference.url]
            texts += [reference.resolvedURL ?? "", reference.method, reference.obstacle?.rawValue ?? ""]
            texts += reference.events
            texts += reference.fields
            for part in [reference.headers, reference.body] { texts.append("\(part?.count ?? -1)") }
        }
        return texts
    }
}

extension JSONNode {
    /// Returns the value at a JSON pointer, or `nil` if an object on the way repeats a name, so that the pointer is
    /// ambiguous.
    fileprivate func node(at pointer: String) -> JSONNode? {
        var node = self
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            if node.kind == .array {
                guard let index = Int(part), let next = node.elements.dropFirst(index).first(where: { _ in true })
                else {
                    preconditionFailure("\(pointer) leads out of an array")
                }
                node = next
                continue
            }
            let name = part.replacing("~1", with: "/").replacing("~0", with: "~")
            // Compared by scalars: equal strings may be different names.
            let found = node.members.filter { $0.name.unicodeScalars.elementsEqual(name.unicodeScalars) }
            precondition(!found.isEmpty, "\(pointer) leads out of an object")
            if found.count > 1 { return nil }
            node = found[0].value
        }
        return node
    }
}
