import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle()) struct FormStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    private func stores() -> [any Form.Store] {
        [Form.MemoryStore(), Form.DiskStore(directory: folder.appending(path: "a/b").path)]
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)[.posixPermissions] as? Int
    }

    @Test func storedFieldsReplaceTheGivenNames() throws {
        defer { remove() }
        for store in stores() {
            #expect(try store.fields(of: "g") == [])
            try store.clear("g")
            try store.save([FormField("a", 1), FormField("b", ["x", nil])], replacing: [], in: "g")
            try store.save([FormField("a", "ü\"\n"), FormField("a", true)], replacing: ["a"], in: "g")
            let expected = [FormField("b", ["x", nil]), FormField("a", "ü\"\n"), FormField("a", true)]
            #expect(try store.fields(of: "g") == expected)
            #expect(try store.fields(of: "other") == [])
            try store.clear("g")
            #expect(try store.fields(of: "g") == [])
        }
    }

    @Test func filesAreAccessibleToTheirOwnerOnly() throws {
        defer { remove() }
        let store = Form.DiskStore(directory: folder.appending(path: "a/b").path)
        try store.save([FormField("a", 1)], replacing: [], in: "g")
        #expect(try mode("a/b") == 0o700)
        #expect(try mode("a/b/g.json") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "a/b").path) == ["g.json"])
    }

    private static let groupNameIsEscapedInTheFileNameArguments: [(String, String)] = [
        ("../x", "%2E%2E%2Fx"), ("Sign up", "%53ign%20up"), ("sign-up_1", "sign-up_1"), ("\u{1}", "%01"),
    ]

    @Test(arguments: Self.groupNameIsEscapedInTheFileNameArguments)
    func groupNameIsEscapedInTheFileName(_ group: String, _ name: String) throws {
        defer { remove() }
        let store = Form.DiskStore(directory: folder.path)
        try store.save([FormField("a", 1)], replacing: [], in: group)
        #expect(try store.fields(of: group) == [FormField("a", 1)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["\(name).json"])
        for group in ["", String(repeating: "Ü", count: 34)] {
            let error = #expect(throws: NetworkError.self) { try store.fields(of: group) }
            #expect(error?.kind == .badConfiguration)
        }
    }

    @Test func truncatedFileIsAnErrorUntilCleared() throws {
        defer { remove() }
        let store = Form.DiskStore(directory: folder.path)
        try store.save([FormField("a", "x"), FormField("b", 1)], replacing: [], in: "g")
        let file = folder.appending(path: "g.json")
        let whole = try Data(contentsOf: file)
        let cuts =
            (0..<whole.count).map { whole.prefix($0) } + [Data("{}".utf8), Data(#"{"fields":[{"name":1}]}"#.utf8)]
        for cut in cuts {
            try cut.write(to: file)
            let error = #expect(throws: NetworkError.self) { try store.fields(of: "g") }
            #expect(error?.kind == .decoding && error?.mayHaveReachedServer == false)
            #expect(throws: NetworkError.self) { try store.save([], replacing: [], in: "g") }
            #expect(try Data(contentsOf: file) == cut)
        }
        try store.clear("g")
        #expect(try store.fields(of: "g") == [])
    }

    @Test func unwritableDirectoryIsAFileError() throws {
        defer { remove() }
        try Data().write(to: folder)
        let store = Form.DiskStore(directory: folder.appending(path: "a").path)
        let error = #expect(throws: NetworkError.self) { try store.save([], replacing: [], in: "g") }
        #expect(error?.kind == .file)
    }

    @Test func draftIsRestoredWithoutSecretsAndFiles() throws {
        defer { remove() }
        let redactor = Redactor(secrets: ["nickname"])
        Beagle.dependencies.redactor = redactor
        for store in stores() {
            func form() -> Form {
                Form(
                    [
                        Form.Input("name"), Form.Input("password"), Form.Input("nickname"),
                        Form.Input("mother", isSecret: true),
                        Form.Input("code", isSecret: false), Form.Input("photo"), Form.Input("tag"), Form.Input("tag"),
                    ],
                    group: "g",
                    store: store
                )
            }
            // A value stored under the name of a secret is deleted.
            try store.save([FormField("password", "old"), FormField("page", 1)], replacing: [], in: "g")
            let filled = form()
            filled.inputs = filled.inputs.enumerated().map { index, input in
                var input = input
                input.value = input.name == "photo" ? .file(FormFile(path: "/photo")) : .text("\(input.name) \(index)")
                return input
            }
            filled.additionalData = ["token": "t", "source": "app"]
            try filled.save()
            let kept = try store.fields(of: "g")
            #expect(kept.map(\.name) == ["page", "name", "code", "tag", "tag", "source"])
            let restored = form()
            try restored.restore()
            #expect(restored["name"] == "name 0")
            #expect(restored.inputs.suffix(2).map(\.value) == ["tag 6", "tag 7"])
            #expect(restored["password"] == .empty && restored["mother"] == .empty && restored["photo"] == .empty)
            try restored.clear()
            #expect(try store.fields(of: "g") == [])
        }
    }

    @Test func formWithoutAGroupStoresNothing() throws {
        let form = Form([Form.Input("a", 1)])
        try form.save()
        try form.restore()
        try form.clear()
        #expect(form["a"] == 1)
    }

    @Test func formUsesTheContainersStore() throws {
        let form = Form([Form.Input("a", 1)], group: "g")
        try form.save()
        #expect(try Beagle.dependencies.formStore.fields(of: "g") == [FormField("a", 1)])
    }
}
