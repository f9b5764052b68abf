# The control API, as docs/openapi.yaml describes it.
# shellcheck shell=bash disable=SC2164

oncecase_every_example_of_the_control_api_does_what_its_document_says() {
    cp -R "$BASE/Notes.app" .
    chmod -R u+w Notes.app
    echo letter >letter.txt
    mkdir home
    appcontainer create "$DEVICE" --kdf-cost 1
    appcontainer check "$DEVICE"
    timeout 200 /usr/bin/python3 "$HERE/openapi.py" "$BASE/openapi.yaml" \
        "$(control_socket)"
    same "$(appcontainer status --json "$DEVICE" | json daemon pid)" null "the daemon, when all is done"
}
