#define _GNU_SOURCE
#include "CHostTrace.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Names of this program's functions, also of those that are private: from the symbol table of its file.

char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

static const uint8_t *image(void) {
    static const uint8_t *mapped;
    struct stat status;
    int fd = mapped != NULL ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        void *found = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        mapped = found == MAP_FAILED ? NULL : found;
    }
    if (fd >= 0) {
        close(fd);
    }
    return mapped;
}

// The program itself is the first in the list.
static int program_base(struct dl_phdr_info *information, size_t size, void *result) {
    (void)size;
    *(uintptr_t *)result = information->dlpi_addr;
    return 1;
}

char *trace_function(const void *address) {
    const uint8_t *file = image();
    uintptr_t base = 0;
    if (file == NULL) {
        return NULL;
    }
    dl_iterate_phdr(program_base, &base);
    uintptr_t wanted = (uintptr_t)address - base;
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    for (int number = 0; number < header->e_shnum; number++) {
        if (sections[number].sh_type != SHT_SYMTAB) {
            continue;
        }
        const Elf64_Sym *symbols = (const void *)(file + sections[number].sh_offset);
        const char *names = (const char *)file + sections[sections[number].sh_link].sh_offset;
        for (size_t index = 0; index < sections[number].sh_size / sizeof *symbols; index++) {
            const Elf64_Sym *symbol = &symbols[index];
            if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && wanted > symbol->st_value
                && wanted <= symbol->st_value + symbol->st_size) {
                const char *name = names + symbol->st_name;
                char *demangled = swift_demangle(name, strlen(name), NULL, NULL, 0);
                return demangled != NULL ? demangled : strdup(name);
            }
        }
    }
    return NULL;
}
