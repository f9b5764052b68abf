# The entitlements of a signature: what an app has by them, and whose update is taken.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

paper() { /usr/bin/python3 "$HERE/entitlements.py" "$@"; }
shared=group.com.example.shared

# signed NAME IDENTITY TEAM [IDENTIFIER [GROUP [CLASS]]]: an app of a team, $WORK/NAME.app
signed() {
    local identifier=${4:-$APP}
    make_app "$identifier" "$1"
    rm -rf "$WORK/$1.app/_CodeSignature"
    [ -e "$WORK/$2" ] || appcontainer identity "$WORK/$2"
    paper list "$WORK/$1.entitlements" "$3" "$identifier" "${@:5}"
    appcontainer seal "$WORK/$1.app" --identity "$WORK/$2" --entitlements "$WORK/$1.entitlements"
}
groups() { appcontainer apps "$DEVICE" --json | json "$1" groups; }
# refused CODE APP WORDS [OPTION]: it is not installed, and nothing changes
refused() {
    local before
    before=$(appcontainer apps "$DEVICE" --json; find "$DEVICE/Containers" | LC_ALL=C sort)
    complains "$1" appcontainer install "$DEVICE" "$2" "${@:4}"
    contains "$(cat "$WORK/.err")" "$3"
    same "$(appcontainer apps "$DEVICE" --json; find "$DEVICE/Containers" | LC_ALL=C sort)" "$before" "what is installed"
}

case_a_signed_app_has_what_its_entitlements_say() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA "$APP" "$shared"
    (mkdir Payload && cp -R Mine.app Payload/Notes.app && zip -qry Mine.ipa Payload)
    appcontainer install "$DEVICE" Mine.ipa
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    same "$(ls "$MOUNT/Groups")" "$shared" "groups"
    same "$(appcontainer apps "$DEVICE" --json | json 0 team)" AAAAAAAAAA team
    contains "$(appcontainer apps "$DEVICE" --json | json 0 entitlements)" "AAAAAAAAAA.$APP"
    same "$(appcontainer verify Mine.app)" valid "the seal"
    contains "$(appcontainer verify Mine.app --json)" '"team" : "AAAAAAAAAA"'
    whole
}

case_the_default_class_of_an_app() {
    mkdir -p "$MOUNT"
    echo 123456 >code
    chmod 600 code
    appcontainer create "$DEVICE" --passcode-file code
    appcontainer unlock "$DEVICE" --passcode-file code
    signed Mine key AAAAAAAAAA "$APP" "$shared" NSFileProtectionComplete
    appcontainer install "$DEVICE" Mine.app
    appcontainer mount "$DEVICE" "$APP" "$MOUNT"
    echo secret >"$DOCUMENTS/secret"
    mkdir "$DOCUMENTS/inner"
    echo secret >"$DOCUMENTS/inner/secret"
    echo shared >"$MOUNT/Groups/$shared/shared"
    appcontainer lock "$DEVICE" --now
    local file
    for file in "$DOCUMENTS/secret" "$DOCUMENTS/inner/secret"; do
        if cat "$file" 2>/dev/null; then fail "$file can be read on a locked device"; fi
    done
    same "$(cat "$MOUNT/Groups/$shared/shared")" shared "the group"
    appcontainer unlock "$DEVICE" --passcode-file code
    same "$(cat "$DOCUMENTS/secret")" secret content
}

case_an_update_by_another_signer_is_refused() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA
    appcontainer install "$DEVICE" Mine.app
    signed Renewed other AAAAAAAAAA
    appcontainer install "$DEVICE" Renewed.app
    signed Strange key BBBBBBBBBB
    refused 54 Strange.app "the team AAAAAAAAAA"
    complains 54 appcontainer install "$DEVICE" Strange.app --trust key.crt
    refused 54 "$BASE/Notes.app" --replace-signer
    appcontainer install "$DEVICE" Strange.app --replace-signer
    same "$(appcontainer apps "$DEVICE" --json | json 0 team)" BBBBBBBBBB team
    appcontainer uninstall "$DEVICE" "$APP"
    # The device's own signature binds nobody.
    appcontainer install "$DEVICE" "$BASE/Notes.app"
    appcontainer install "$DEVICE" Mine.app
    whole
}

case_a_group_of_another_team_is_refused() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA "$APP" "$shared"
    appcontainer install "$DEVICE" Mine.app
    signed Strange key BBBBBBBBBB com.example.Strange "$shared"
    refused 54 Strange.app "$shared"
    signed Sibling other AAAAAAAAAA com.example.Sibling "$shared"
    appcontainer install "$DEVICE" Sibling.app
    signed Strange2 key BBBBBBBBBB com.example.Strange
    appcontainer install "$DEVICE" Strange2.app
    complains 54 appcontainer entitle "$DEVICE" com.example.Strange --group "$shared"
    whole
}

case_no_group_of_the_former_team_stays_with_another_signer() {
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA "$APP" "$shared"
    appcontainer install "$DEVICE" Mine.app
    signed Sibling key AAAAAAAAAA com.example.Sibling "$shared"
    appcontainer install "$DEVICE" Sibling.app
    signed Strange other BBBBBBBBBB
    refused 54 Strange.app "the team AAAAAAAAAA"
    refused 54 Strange.app "$shared" --replace-signer
    contains "$(cat "$WORK/.err")" "uninstall"
    appcontainer uninstall "$DEVICE" com.example.Sibling
    appcontainer install "$DEVICE" Strange.app --replace-signer
    same "$(groups 0)" "['$shared']" "a group that is nobody else's"
    whole
}

case_what_installs_is_read_at_the_next_boot() {
    appcontainer create "$DEVICE"
    local levels
    for levels in 12 15 16; do
        signed "Deep$levels" key AAAAAAAAAA
        paper nest "Deep$levels.entitlements" "$levels"
        appcontainer seal "Deep$levels.app" --identity key --entitlements "Deep$levels.entitlements"
        appcontainer install "$DEVICE" "Deep$levels.app"
        appcontainer shutdown "$DEVICE"
        contains "$(appcontainer apps "$DEVICE" --json)" '"deep"'
        appcontainer boot "$DEVICE"
        contains "$(appcontainer apps "$DEVICE" --json)" '"deep"'
    done
    paper nest Deep16.entitlements 17
    complains 53 appcontainer seal Deep16.app --identity key --entitlements Deep16.entitlements
    whole
}

case_entitlements_that_disagree_install_nothing() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA "$APP" "$shared"
    paper disagree Mine.app key
    complains 53 appcontainer verify Mine.app
    refused 53 Mine.app disagree
    # Those of another app, and of none.
    signed Other key AAAAAAAAAA com.example.Other
    sed -i 's/com\.example\.Other/com.example.Third/' Other.app/Info.plist
    appcontainer seal Other.app --identity key --entitlements Other.entitlements
    refused 53 Other.app "another app"
    echo nonsense >nonsense
    complains 53 appcontainer seal Other.app --identity key --entitlements nonsense
}

case_a_provisioning_profile_bounds_the_entitlements() {
    mkdir -p "$MOUNT"
    appcontainer create "$DEVICE"
    signed Mine key AAAAAAAAAA "$APP" "$shared"
    provisioned() {
        paper profile Mine.app/embedded.mobileprovision key AAAAAAAAAA "$@"
        appcontainer seal Mine.app --identity key --entitlements Mine.entitlements
    }
    provisioned "$APP" -1 "$shared"
    refused 53 Mine.app expired
    provisioned com.example.Other 1 "$shared"
    refused 53 Mine.app "another app"
    provisioned "$APP" 1
    refused 53 Mine.app application-groups
    provisioned "$APP" 1 "$shared"
    truncate -s -10 Mine.app/embedded.mobileprovision
    appcontainer seal Mine.app --identity key --entitlements Mine.entitlements
    refused 53 Mine.app "cannot be read"
    provisioned 'com.example.*' 1 "$shared"
    appcontainer install "$DEVICE" Mine.app
    whole
}
