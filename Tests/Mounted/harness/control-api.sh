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

# random_requests SECONDS SEED OPTION…: random requests to a device that has nothing but its own directory.
random_requests() {
    mkdir "$WORK/alone"
    PATH=$BASE:$PATH within "$HERE/alone.sh" "$WORK/alone" /usr/bin/python3 "$HERE/fuzzed_api.py" "$BASE/openapi.yaml" \
        "$BASE/Notes.app" "$@"
}

rootoncecase_random_requests_of_the_control_api_are_answered_as_its_document_says() {
    random_requests "$(rounds seconds_of_random_requests)" 1
}

rootoncecase_random_requests_that_ask_for_lines_get_them() {
    random_requests "$(rounds seconds_of_asking_for_lines)" 2 -H 'Accept: application/x-ndjson'
}

oncecase_a_client_generated_from_the_document_works() {
    printf 'content_type_overrides: {application/x-ndjson: application/octet-stream}\npost_hooks: []\n' >settings.yaml
    "$API_TOOLS/bin/openapi-python-client" generate --path "$BASE/openapi.yaml" --meta none --output-path device_api \
        --config settings.yaml --fail-on-warning
    appcontainer create "$DEVICE" --kdf-cost 1
    appcontainer boot "$DEVICE" >/dev/null
    PYTHONPATH=$PYTHONPATH:$PWD "$API_TOOLS/bin/python" "$HERE/generated_client.py" "$(control_socket)" \
        "$(appcontainer status "$DEVICE" --json | json identifier)" "$BASE/Notes.app"
    appcontainer shutdown "$DEVICE"
}
