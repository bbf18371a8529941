extension HTTPFields {
    /// Returns the same value as the subscript but faster. The subscript joins values even if there is only one.
    package func joined(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            if found != nil { return self[name] }
            found = field.value
        }
        return found
    }
}
