/// The tables of the frameworks. A type that isn't listed has no references of its own; its members are searched for
/// components and actions.
extension ScreenVocabulary {
    static let beagleMarkers = [
        ScreenMarker(name: "_beagleComponent_", form: .component, family: .beagle),
        ScreenMarker(name: "_beagleAction_", form: .action, family: .beagle),
        ScreenMarker(name: "_beagleImagePath_", form: .imagePath, family: .imagePath),
    ]
    static let olderMarkers = [ScreenMarker(name: "_beagleType_", form: .older, family: .beagle)]
    static let nimbusMarkers = [
        ScreenMarker(name: "_:component", form: .component, family: .nimbus),
        ScreenMarker(name: "_:action", form: .action, family: .nimbus),
    ]

    /// The members of any object, unless its type says otherwise.
    static let anyObject = ScreenRule.rules(
        .any,
        "*",
        [
            ("style", .skipped), ("accessibility", .skipped), ("analytics", .skipped), ("data", .data),
            ("additionalData", .data), ("context", .data), ("context.id", .contextID),
            ("context.value", .contextValue),
        ]
    )

    private static func rules(_ types: String, _ members: [(String, ScreenRule.Meaning)]) -> [ScreenRule] {
        ScreenRule.rules(.beagle, types, members)
    }

    /// The members of a navigation's `route`.
    private static let route: [(String, ScreenRule.Meaning)] = [
        ("route.url", .url(.route)), ("route.shouldPrefetch", .prefetch), ("route.screen", .localScreen),
        ("route.fallback", .fallback), ("route.httpAdditionalData", .data),
        ("route.httpAdditionalData.method", .method), ("route.httpAdditionalData.headers", .headers),
        ("route.httpAdditionalData.body", .body),
    ]

    /// The components and actions of every version of Beagle.
    static let beagle =
        rules("beagle:image", [("path", .imagePath), ("mode", .skipped)])
        + ScreenRule.rules(.imagePath, "remote", [("url", .url(.image))])
        // The URL of a local image is for the web only.
        + ScreenRule.rules(.imagePath, "local", [("url", .skipped), ("mobileId", .skipped)])
        + rules("beagle:lazyComponent", [("path", .plainURL(.lazy))])
        + rules("beagle:webView", [("url", .url(.webPage))])
        + rules(
            "beagle:listView beagle:gridView",
            [
                ("dataSource", .items), ("iteratorName", .iteratorName), ("indexName", .indexName), ("key", .skipped),
                ("templates", .alternatives), ("templates.case", .templateCase), ("template", .template),
            ]
        )
        + rules("beagle:pushView beagle:pushStack beagle:resetStack beagle:resetApplication", route)
        // Names of screens, not URLs.
        + rules("beagle:popToView beagle:openNativeRoute", [("route", .skipped)])
        + rules("beagle:openExternalURL", [("url", .url(.webPage))])
        + rules(
            "beagle:sendRequest",
            [("url", .url(.request)), ("method", .method), ("headers", .headers), ("data", .body)]
        )
        + rules("beagle:setContext", [("contextId", .changedContext), ("path", .skipped), ("value", .data)])

    /// The forms of Beagle 1.x, and the names from before 1.0.
    static let beagle1Rules =
        rules("beagle:form", [("group", .skipped)])
        + rules("beagle:formInput", [("name", .inputName)])
        + rules(
            "beagle:formRemoteAction",
            [("path", .plainURL(.form)), ("method", .method), ("additionalData", .body), ("group", .skipped)]
        )
        + rules("beagle:networkImage", [("path", .reference(.image))])
        + rules(
            "beagle:navigate",
            [
                ("path", .plainURL(.route)), ("type", .navigationType), ("shouldPrefetch", .prefetch),
                ("screen", .localScreen),
            ]
        )

    /// The form of Beagle 2.x.
    static let beagle2Rules = rules("beagle:simpleForm", [("onSubmit", .submission)])

    /// The components and actions of Nimbus.
    static let nimbusRules = [
        ScreenRule.rules(
            .any,
            "*",
            [
                ("state", .data), ("state.id", .contextID), ("state.value", .contextValue), ("states", .data),
                ("states.id", .contextID), ("states.value", .contextValue), ("metadata", .data),
            ]
        ),
        ScreenRule.rules(.nimbus, "layout:remoteImage", [("properties.url", .url(.image))]),
        ScreenRule.rules(
            .nimbus,
            "forEach",
            [
                ("properties.items", .items), ("properties.iteratorName", .iteratorName),
                ("properties.indexName", .indexName), ("properties.key", .skipped), ("children", .template),
            ]
        ),
        ScreenRule.rules(
            .nimbus,
            "push present",
            [
                ("properties.url", .url(.route)), ("properties.method", .method), ("properties.headers", .headers),
                ("properties.body", .body), ("properties.prefetch", .prefetch), ("properties.fallback", .fallback),
                ("properties.params", .data), ("properties.state", .data),
            ]
        ),
        ScreenRule.rules(
            .nimbus,
            "sendRequest",
            [
                ("properties.url", .url(.request)), ("properties.method", .method), ("properties.headers", .headers),
                ("properties.data", .body),
            ]
        ),
        // The URL of a screen that is already on the stack.
        ScreenRule.rules(.nimbus, "popTo", [("properties.url", .skipped)]),
        ScreenRule.rules(.nimbus, "openUrl", [("properties.url", .url(.webPage))]),
        ScreenRule.rules(.nimbus, "setState", [("properties.path", .changedContext), ("properties.value", .data)]),
    ].flatMap(\.self)

    /// The events that change when an action runs. Actions of all others run when the user does something.
    static let events: [String: EventTime] = [
        "onInit": .initial, "onScrollEnd": .visible, "onSuccess": .following, "onError": .following,
        "onFinish": .following, "onTrue": .following, "onFalse": .following,
    ]
}

/// The time at which an event's actions run.
enum EventTime: UInt8, Sendable {
    case action, initial, visible
    /// As soon as the action before them is done.
    case following
}
