// Makes one allocation of the engine's extensions fail: to be preloaded (LD_PRELOAD) and armed.
//
// Allocations are counted while armed, and only those whose caller is code of an extension below
// "/ivm/": the interpreter, numpy and Arrow keep their memory, so that a count means the same in
// every run.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
}

namespace {

struct Range {
    const char* first;
    const char* last;
};

Range ranges[256];
int range_count = 0;
std::atomic<long> left{0};    // allocations until one fails; 0: not armed
std::atomic<long> failed{0};  // whether it has

int note(dl_phdr_info* info, size_t, void*) {
    if (!std::strstr(info->dlpi_name, "/ivm/") || !std::strstr(info->dlpi_name, ".so")) return 0;
    if (std::strstr(info->dlpi_name, "/site-packages/")) return 0;  // the checkout may lie in /ivm/
    for (int i = 0; i < info->dlpi_phnum && range_count < 256; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        const char* first = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
        ranges[range_count++] = {first, first + part.p_memsz};
    }
    return 0;
}

bool fails(const void* caller) {
    if (left.load(std::memory_order_relaxed) <= 0) return false;
    const char* place = static_cast<const char*>(caller);
    for (int i = 0; i < range_count; ++i) {
        if (place >= ranges[i].first && place < ranges[i].last) {
            if (left.fetch_sub(1) != 1) return false;
            failed = 1;
            return true;
        }
    }
    return false;
}

}  // namespace

extern "C" {

// Lets the n-th allocation from now on fail, once. 0 disarms.
void shortage_arm(long n) {
    range_count = 0;
    dl_iterate_phdr(note, nullptr);
    failed = 0;
    left = n;
}

// Disarms; whether the allocation was reached.
long shortage_disarm() {
    left = 0;
    return failed;
}

void* malloc(size_t n) { return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(n); }

void* calloc(size_t n, size_t size) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(n, size);
}

void* realloc(void* block, size_t n) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(block, n);
}
}

void* operator new(size_t n) {
    void* block = fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(n ? n : 1);
    if (!block) throw std::bad_alloc();
    return block;
}
