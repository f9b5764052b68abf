// From the parameters of a request to the options of a volume.

import CSIProtocol
import GRPCCore
import SandboxModel
import Volumes

enum VolumeParameters {
    /// Keys that Kubernetes adds.
    private static let orchestrators = "csi.storage.k8s.io/"

    /// Whether a pod has the volume in its own manifest.
    static func isEphemeral(_ context: [String: String]) -> Bool {
        context[orchestrators + "ephemeral"] == "true"
    }

    /// The options that the author of a pod may give. Others name volumes, snapshots and secrets of other pods.
    private static let podsOwn: Set<String> = [
        "template", "beside", "control-of", "app", "capacity", "uid", "running", "read-only",
    ]

    /// The options of a volume of a pod's own manifest. Those of one pod name each other by the attribute `name`.
    static func options(ofPodsOwn context: [String: String]) throws(RPCError) -> [String: String] {
        var options = context.filter { !$0.key.hasPrefix(orchestrators) }
        options["name"] = nil
        if let other = options.keys.sorted().first(where: { !podsOwn.contains($0) }) {
            throw RPCError(code: .invalidArgument, message: "a volume of a pod's own has no attribute \(other)")
        }
        let pod = context[orchestrators + "pod.uid"] ?? ""
        for key in ["beside", "control-of"] {
            if let other = options[key] { options[key] = name(other, ofPod: pod) }
        }
        return options
    }

    /// The name of a pod's own volume: that of its attribute `name` in this pod, else the identifier that it has.
    static func name(ofPodsOwn context: [String: String], identifier: String) -> String {
        guard let own = context["name"] else { return name(for: identifier) }
        return name(own, ofPod: context[orchestrators + "pod.uid"] ?? "")
    }

    private static func name(_ name: String, ofPod pod: String) -> String { self.name(for: "\(pod).\(name)") }

    /// The name of the volume or snapshot that an orchestrator suggests.
    static func name(for suggested: String) -> String { VolumeName(for: suggested).text }

    /// The passcode of a secret: the first line, as of a file of passcodes.
    static func passcode(of secrets: [String: String]) -> String? {
        secrets["passcode"].map { String($0.prefix { !$0.isNewline }) }
    }

    /// The options of a volume that is asked for.
    static func options(
        of request: Csi_V1_CreateVolumeRequest, _ identifiers: Identifiers
    ) throws(RPCError) -> [String: String] {
        var options = request.parameters.filter { !$0.key.hasPrefix(orchestrators) }
        if request.hasVolumeContentSource {
            options["template"] = nil
            switch request.volumeContentSource.type {
            case .snapshot(let snapshot): options["snapshot"] = try identifiers.source(snapshot.snapshotID, "snapshot")
            case .volume(let volume): options["copy-of"] = try identifiers.source(volume.volumeID, "volume")
            case nil: throw .missing("type of volume_content_source")
            }
        }
        let range = request.capacityRange
        guard range.requiredBytes >= 0, range.limitBytes >= 0,
            range.limitBytes == 0 || range.requiredBytes <= range.limitBytes
        else { throw RPCError(code: .outOfRange, message: "the capacity range contradicts itself") }
        guard range.limitBytes == 0 || range.limitBytes >= leastCapacity else {
            throw RPCError(code: .outOfRange, message: "a volume has at least \(leastCapacity) bytes")
        }
        let capacity = range.requiredBytes > 0 ? range.requiredBytes : range.limitBytes
        if capacity > 0 { options["capacity"] = String(max(capacity, leastCapacity)) }
        return options
    }

    private static let leastCapacity: Int64 = 1 << 20
}
