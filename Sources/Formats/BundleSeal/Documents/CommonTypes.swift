// The types that every phone knows (Apple, System-declared uniform type identifiers), as far as documents have them.

/// The system's own declarations.
enum CommonTypes {
    /// A line is a type, the types that it conforms to, and its extensions; each list with commas, and `-` for none.
    private static let table = """
        public.item - -
        public.content - -
        public.composite-content public.content -
        public.data public.item -
        public.directory public.item -
        public.folder public.directory -
        com.apple.package public.directory -
        com.apple.bundle public.directory bundle
        public.archive - -
        public.image public.data,public.content -
        public.audiovisual-content public.data,public.content -
        public.movie public.audiovisual-content -
        public.video public.movie -
        public.audio public.audiovisual-content -
        public.text public.data,public.content -
        public.plain-text public.text txt,text
        public.utf8-plain-text public.plain-text -
        public.rtf public.text rtf
        com.apple.rtfd com.apple.package,public.composite-content rtfd
        com.apple.flat-rtfd public.data,public.composite-content -
        public.html public.text html,htm,shtml,shtm
        public.xhtml public.xml xhtml,xht
        public.xml public.text xml
        public.json public.text json
        public.yaml public.text yml,yaml
        net.daringfireball.markdown public.plain-text md,markdown,mdown
        public.delimited-values-text public.text -
        public.comma-separated-values-text public.delimited-values-text csv
        public.tab-separated-values-text public.delimited-values-text tsv
        com.apple.property-list public.data plist
        com.apple.xml-property-list public.xml,com.apple.property-list -
        com.apple.binary-property-list com.apple.property-list -
        public.log public.plain-text log
        public.source-code public.plain-text -
        public.swift-source public.source-code swift
        public.c-source public.source-code c
        public.c-header public.source-code h
        public.objective-c-source public.source-code m
        public.c-plus-plus-source public.source-code cpp,cc,cxx
        com.sun.java-source public.source-code java,jav
        com.netscape.javascript-source public.source-code js,mjs
        public.css public.text css
        public.script public.source-code -
        public.shell-script public.script sh,command
        public.python-script public.script py
        public.ruby-script public.script rb
        public.perl-script public.script pl,pm
        public.php-script public.script php
        com.adobe.pdf public.data,public.composite-content pdf
        com.adobe.postscript public.data,public.content ps
        public.jpeg public.image jpg,jpeg,jpe
        public.png public.image png
        com.compuserve.gif public.image gif
        public.tiff public.image tif,tiff
        com.microsoft.bmp public.image bmp
        com.microsoft.ico public.image ico
        com.apple.icns public.image icns
        org.webmproject.webp public.image webp
        public.heic public.heif-standard heic
        public.heif public.heif-standard heif
        public.heif-standard public.image -
        public.svg-image public.image,public.xml svg
        public.camera-raw-image public.image -
        com.adobe.raw-image public.camera-raw-image dng
        com.adobe.photoshop-image public.image psd
        com.apple.quicktime-movie public.movie mov,qt
        public.mpeg public.movie mpg,mpeg
        public.mpeg-2-video public.video m2v
        public.mpeg-4 public.movie mp4
        com.apple.m4v-video public.movie m4v
        public.avi public.movie avi
        org.matroska.mkv public.movie mkv
        org.webmproject.webm public.movie webm
        public.mp3 public.audio mp3
        public.mpeg-4-audio public.audio,public.mpeg-4 -
        com.apple.m4a-audio public.audio m4a
        com.microsoft.waveform-audio public.audio wav,wave
        public.aiff-audio public.audio aiff,aif
        com.apple.coreaudio-format public.audio caf
        org.xiph.flac public.audio flac
        public.midi-audio public.audio mid,midi
        com.apple.protected-mpeg-4-audio public.audio m4p
        public.playlist - -
        public.m3u-playlist public.text,public.playlist m3u
        public.zip-archive public.data,public.archive,com.pkware.zip-archive zip
        com.pkware.zip-archive public.data,public.archive zip
        public.tar-archive public.data,public.archive tar
        org.gnu.gnu-zip-archive public.data,public.archive gz,gzip
        org.gnu.gnu-zip-tar-archive org.gnu.gnu-zip-archive tgz
        public.bzip2-archive public.data,public.archive bz2
        public.disk-image public.archive -
        com.apple.disk-image-udif public.disk-image,public.data dmg
        public.iso-image public.disk-image,public.data iso
        org.7-zip.7-zip-archive public.data,public.archive 7z
        com.rarlab.rar-archive public.data,public.archive rar
        public.spreadsheet public.content -
        public.presentation public.composite-content -
        org.openxmlformats.openxml public.data -
        com.microsoft.word.doc public.data,public.composite-content doc
        org.openxmlformats.wordprocessingml.document org.openxmlformats.openxml,public.composite-content docx
        com.microsoft.excel.xls public.data,public.spreadsheet xls
        org.openxmlformats.spreadsheetml.sheet org.openxmlformats.openxml,public.spreadsheet xlsx
        com.microsoft.powerpoint.ppt public.data,public.presentation ppt
        org.openxmlformats.presentationml.presentation org.openxmlformats.openxml,public.presentation pptx
        org.oasis-open.opendocument public.data -
        org.oasis-open.opendocument.text org.oasis-open.opendocument,public.composite-content odt
        org.oasis-open.opendocument.spreadsheet org.oasis-open.opendocument,public.spreadsheet ods
        org.oasis-open.opendocument.presentation org.oasis-open.opendocument,public.presentation odp
        com.apple.iwork.pages.pages com.apple.package,public.composite-content pages
        com.apple.iwork.pages.sffpages public.data,public.composite-content pages
        com.apple.iwork.numbers.numbers com.apple.package,public.spreadsheet numbers
        com.apple.iwork.numbers.sffnumbers public.data,public.spreadsheet numbers
        com.apple.iwork.keynote.key com.apple.package,public.presentation key
        com.apple.iwork.keynote.sffkey public.data,public.presentation key
        org.idpf.epub-container public.data,public.composite-content epub
        org.idpf.epub-folder com.apple.package,public.composite-content epub
        public.vcard public.text,public.contact vcf,vcard
        public.contact - -
        public.calendar-event - -
        com.apple.ical.ics public.text,public.calendar-event ics
        public.message - -
        com.apple.mail.email public.data,public.message emlx
        public.email-message public.text,public.message eml
        public.font public.data -
        public.truetype-ttf-font public.font ttf
        public.opentype-font public.font otf
        public.database - -
        public.3d-content public.content -
        com.pixar.universal-scene-description-mobile public.data,public.3d-content usdz
        public.geojson public.json geojson
        com.topografix.gpx public.xml gpx
        com.google.earth.kml public.xml kml
        com.apple.application com.apple.package -
        com.apple.application-bundle com.apple.application,com.apple.bundle app
        com.apple.itunes.ipa public.data,public.archive ipa
        """

    static let declarations: [TypeDeclarations.Declaration] = table.split(separator: "\n").map { line in
        let words = line.split(separator: " ")
        func list(_ index: Int) -> [String] {
            words[index] == "-" ? [] : words[index].split(separator: ",").map(String.init)
        }
        return TypeDeclarations.Declaration(identifier: String(words[0]), conformsTo: list(1), extensions: list(2))
    }
}
