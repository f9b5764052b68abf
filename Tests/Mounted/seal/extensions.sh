# App extensions: installed, run, updated, backed up and removed with their app, in homes of their own.
# shellcheck shell=bash disable=SC2164,SC2015,SC2012,SC2153,SC2016,SC2034

paper() { /usr/bin/python3 "$HERE/entitlements.py" "$@"; }
shared=group.com.example.shared

# extended APP [NAME…]: $WORK/APP.app with these extensions, none of them signed
extended() {
    local app=$1 name bundle
    shift
    rm -rf "$WORK/$app.app"
    make_app "$APP" "$app"
    rm -rf "$WORK/$app.app/_CodeSignature"
    for name in "$@"; do
        bundle="$WORK/$app.app/PlugIns/$name.appex"
        mkdir -p "$bundle"
        sed "s/$APP/$APP.$name/; s|<string>Notes</string>|<string>$name</string>|" "$WORK/$app.app/Info.plist" \
            >"$bundle/Info.plist"
        printf '#!/bin/sh\necho "%s $PWD $HOME"\n' "$name" >"$bundle/$name"
        chmod +x "$bundle/$name"
    done
}
# sealed APP [NAME…]: the same, signed, with the group as an entitlement of the app and of each extension
sealed() {
    local app=$1 name
    extended "$@"
    shift
    [ -e "$WORK/key" ] || appcontainer identity "$WORK/key"
    for name in "$@"; do
        paper list "$WORK/list" AAAAAAAAAA "$APP.$name" "$shared"
        appcontainer seal "$WORK/$app.app/PlugIns/$name.appex" --identity "$WORK/key" --entitlements "$WORK/list"
    done
    paper list "$WORK/list" AAAAAAAAAA "$APP" "$shared"
    appcontainer seal "$WORK/$app.app" --identity "$WORK/key" --entitlements "$WORK/list"
}
extensions() { appcontainer apps "$DEVICE" --json | json 0 extensions; }
in_extension() { appcontainer run "$DEVICE" "$APP" --extension "$1" -- sh -c "$2"; }

case_an_extension_has_a_home_of_its_own() {
    sealed Mine Share Widget
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Mine.app
    same "$(apps "$DEVICE")" 1 "apps"
    contains "$(extensions)" "'identifier': '$APP.Share', 'mountPoint': None, 'name': 'Share'"
    contains "$(appcontainer run "$DEVICE" "$APP" --extension Share)" "Share /"
    in_extension Share 'echo own >Documents/own; echo shared >Groups/'"$shared"'/from-share'
    same "$(in_extension Widget 'ls Documents; cat Groups/'"$shared"'/from-share')" shared "the widget's home"
    same "$(appcontainer run "$DEVICE" "$APP" -- sh -c 'ls Documents')" "" "the app's home"
    same "$(in_extension Share.appex 'cat Documents/own')" own "by the bundle's name"
    contains "$(in_extension Share 'cat .com.apple.mobile*')" "<integer>4<"
    contains "$(in_extension Share 'cat .com.apple.mobile*')" "$APP.Share"
    complains 125 appcontainer run "$DEVICE" "$APP" --extension None
    contains "$(cat "$WORK/.err")" "Share, Widget"
    refused appcontainer run "$DEVICE" "$APP" --extension Share -- sh -c 'cp /dev/null Mine.app/PlugIns/Share.appex/x'
    process=$(appcontainer launch "$DEVICE" "$APP" --extension Share)
    appcontainer launch "$DEVICE" "$APP" --extension Widget --no-exec
    contains "$(running)" "$APP.Widget"
    complains 41 appcontainer uninstall "$DEVICE" "$APP"
    appcontainer terminate "$DEVICE" "$APP"
    complains 23 appcontainer uninstall "$DEVICE" "$APP.Share"
    complains 23 appcontainer deliver "$DEVICE" "$APP.Share" list
    appcontainer uninstall "$DEVICE" "$APP"
    same "$(find "$DEVICE/Containers" -mindepth 3 | head -3)" "" "what is left"
    whole
}

case_an_extension_runs_on_a_locked_device() {
    echo 123456 >code
    chmod 600 code
    sealed Mine Share
    appcontainer create "$DEVICE" --passcode-file code
    appcontainer install "$DEVICE" Mine.app
    same "$(in_extension Share 'echo x 2>/dev/null >Documents/x || echo refused')" refused "before the first unlock"
    appcontainer unlock "$DEVICE" --passcode-file code
    in_extension Share "mkdir Documents/B; echo kept >Groups/$shared/kept"
    if [ "$(id -u)" = 0 ]; then mkdir -p "$MOUNT"; appcontainer mount "$DEVICE" "$APP" "$MOUNT"; fi
    appcontainer lock "$DEVICE" --now
    same "$(in_extension Share "cat Groups/$shared/kept; echo later >>Groups/$shared/kept")" kept "while it is locked"
    if [ "$(id -u)" = 0 ]; then same "$(cat "$MOUNT/Groups/$shared/kept")" "$(printf 'kept\nlater')" "in the app's home"; fi
}

case_an_update_takes_the_extensions_along() {
    sealed Mine Share Widget
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Mine.app
    in_extension Share 'echo kept >Documents/kept; echo temporary >tmp/kept'
    in_extension Widget 'echo lost >Documents/lost'
    sealed Newer Share Clock
    printf '#!/bin/sh\necho newer\n' >Newer.app/PlugIns/Share.appex/Share
    paper list list AAAAAAAAAA "$APP.Share" "$shared"
    appcontainer seal Newer.app/PlugIns/Share.appex --identity key --entitlements list
    paper list list AAAAAAAAAA "$APP" "$shared"
    appcontainer seal Newer.app --identity key --entitlements list
    mkdir -p "$MOUNT" share
    if [ "$(id -u)" = 0 ]; then appcontainer mount "$DEVICE" "$APP" "$MOUNT"; fi
    appcontainer mount "$DEVICE" "$APP.Share" share
    # A process in the old bundle goes on in it.
    exec 9<share/Mine.app/PlugIns/Share.appex/Share
    appcontainer install "$DEVICE" Newer.app
    same "$(sh share/Newer.app/PlugIns/Share.appex/Share)" newer "the bundle in the extension's mount"
    contains "$(cat <&9)" 'Share $PWD'
    exec 9<&-
    absent share/Mine.app
    if [ "$(id -u)" = 0 ]; then
        same "$(sh "$MOUNT/Newer.app/PlugIns/Share.appex/Share")" newer "the bundle in the app's mount"
        same_tree "$MOUNT/Newer.app" share/Newer.app
        appcontainer unmount "$MOUNT"
    fi
    same "$(cat share/Documents/kept)" kept "its data"
    complains 20 appcontainer uninstall "$DEVICE" "$APP"
    # One that the next version is without must not be mounted.
    extended None
    appcontainer seal None.app --identity key --entitlements list
    complains 20 appcontainer install "$DEVICE" None.app
    contains "$(cat "$WORK/.err")" "$APP.Share"
    appcontainer unmount share
    contains "$(extensions)" "'name': 'Clock'"
    if [[ $(extensions) == *Widget* ]]; then fail "the extension that the update lacks is there"; fi
    appcontainer install "$DEVICE" None.app
    same "$(extensions)" "[]" "the extensions after all were removed"
    same "$(find "$DEVICE/Containers/Data" -mindepth 2 -maxdepth 2 | wc -l)" 1 "data containers"
    appcontainer shutdown "$DEVICE"
    whole
}

case_a_backup_has_the_extensions_of_its_app() {
    sealed Mine Share
    appcontainer create "$DEVICE"
    appcontainer install "$DEVICE" Mine.app
    in_extension Share 'echo own >Documents/own'
    appcontainer backup "$DEVICE" "$WORK/one.tar" --app "$APP"
    contains "$(tar -tf one.tar)" "AppDomainPlugin-$APP.Share/Documents/own"
    appcontainer backup "$DEVICE" "$WORK/finder" --format finder
    contains "$(plutil_class finder/Manifest.plist "$APP.Share")" Data/PluginKitPlugin
    local form
    for form in one.tar finder; do
        appcontainer create "$WORK/other"
        # Before its app is installed, it waits.
        appcontainer restore "$WORK/other" "$WORK/$form"
        appcontainer install "$WORK/other" Mine.app
        same "$(appcontainer run "$WORK/other" "$APP" --extension Share -- cat Documents/own)" own "after restore of $form"
        appcontainer run "$WORK/other" "$APP" --extension Share -- rm Documents/own
        appcontainer restore "$WORK/other" "$WORK/$form" --domain "AppDomainPlugin-$APP.Share"
        same "$(appcontainer run "$WORK/other" "$APP" --extension Share -- cat Documents/own)" own "one domain of $form"
        same "$(appcontainer check "$WORK/other")" whole "check"
        appcontainer delete "$WORK/other"
    done
}
plutil_class() {
    /usr/bin/python3 -c 'import plistlib, sys
print(plistlib.load(open(sys.argv[1], "rb"))["Applications"][sys.argv[2]]["ContainerContentClass"])' "$@"
}

case_an_app_has_at_most_so_many_extensions() {
    appcontainer create "$DEVICE"
    # shellcheck disable=SC2046
    extended Many $(seq -f E%.0f 64)
    extended More $(seq -f E%.0f 65)
    complains 13 appcontainer install "$DEVICE" More.app
    contains "$(cat "$WORK/.err")" "at most 64"
    same "$(apps "$DEVICE")" 0 "apps"
    appcontainer install "$DEVICE" Many.app
    appcontainer restart "$DEVICE"
    same "$(apps "$DEVICE")" 1 "apps"
    same "$(appcontainer apps "$DEVICE" --json | grep -c "\"$APP.E[0-9]*\"")" 64 "extensions"
    whole
}

case_an_extension_that_does_not_belong_to_its_app() {
    appcontainer create "$DEVICE"
    sealed Mine Share
    complains 13 appcontainer install "$DEVICE" Mine.app/PlugIns/Share.appex
    contains "$(cat "$WORK/.err")" "app extension"
    # Another app's identifier.
    extended Foreign Share
    sed -i "s/$APP.Share/com.example.Other/" Foreign.app/PlugIns/Share.appex/Info.plist
    complains 13 appcontainer install "$DEVICE" Foreign.app
    contains "$(cat "$WORK/.err")" "com.example.Other"
    extended Twice Share Twin
    cp Twice.app/PlugIns/Share.appex/Info.plist Twice.app/PlugIns/Twin.appex/Info.plist
    complains 13 appcontainer install "$DEVICE" Twice.app
    # Signed by somebody else than the app.
    sealed Mixed Share
    appcontainer identity other
    appcontainer seal Mixed.app/PlugIns/Share.appex --identity other
    paper reseal Mixed.app key Share
    complains 54 appcontainer install "$DEVICE" Mixed.app
    same "$(apps "$DEVICE")" 0 "apps"
    # An app of the identifier that an extension has, and the other way round.
    make_app "$APP.Share" Plain
    appcontainer install "$DEVICE" Plain.app
    complains 13 appcontainer install "$DEVICE" Mine.app
    appcontainer uninstall "$DEVICE" "$APP.Share"
    appcontainer install "$DEVICE" Mine.app
    complains 13 appcontainer install "$DEVICE" Plain.app
    whole
}
