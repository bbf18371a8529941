extension HTTPField.Name {
    /// `Beagle-Capabilities`: the hash of the components and actions that an app can show.
    package static let beagleCapabilities = HTTPField.Name("Beagle-Capabilities")!
    /// `Beagle-Capability-List`: the components and actions themselves, and in a response the wish for them.
    package static let beagleCapabilityList = HTTPField.Name("Beagle-Capability-List")!
}
