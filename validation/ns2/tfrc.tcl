# One run of ns-2's TFRC over one bottleneck, for comparison with Crosswind.
#
#   ns tfrc.tcl key=value ...
#
# sender --access--> router --bottleneck--> receiver, and a constant stream beside it while `cross_from` to `cross_to`. The
# loss list acts between the access link and the bottleneck queue. All keys come from tfrc.py; none has a default here.
#
# Output: the send trace in the file `trace`, `key value` lines on stdout.

foreach word $argv {
    set at [string first = $word]
    set opt([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

Agent/TFRC set packetSize_ $opt(packet_size)
Agent/TFRC set rate_init_option_ $opt(rate_init_option)
Agent/TFRC set rate_init_ 1
# The size of a packet is the size on the wire.
Agent/TFRC set useHeaders_ false

set ns [new Simulator]
set near [$ns node]
set router [$ns node]
set far [$ns node]
$ns duplex-link $near $router $opt(access_rate_bps) $opt(access_delay_s) DropTail
$ns simplex-link $router $far $opt(rate_bps) $opt(delay_s) DropTail
$ns simplex-link $far $router $opt(rate_bps) $opt(delay_s) DropTail
$ns queue-limit $near $router 100000
$ns queue-limit $router $near 100000
$ns queue-limit $router $far $opt(limit)
$ns queue-limit $far $router 100000
set monitor [$ns monitor-queue $router $far ""]
if {[llength $opt(drops)] > 0} {
    set losses [new ErrorModel/List]
    $losses droplist $opt(drops)
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $router $far
}
set trace [open $opt(trace) w]
$ns trace-queue $near $router $trace

set sender [new Agent/TFRC]
set receiver [new Agent/TFRCSink]
$ns attach-agent $near $sender
$ns attach-agent $far $receiver
$ns connect $sender $receiver
$ns at $opt(start_s) "$sender start"

if {$opt(cross_rate_bps) > 0} {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent $near $udp
    $ns attach-agent $far $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $opt(packet_size)
    $udp set packetSize_ $opt(packet_size)
    $cbr set interval_ [expr {8.0 * $opt(packet_size) / $opt(cross_rate_bps)}]
    $cbr set random_ 0
    $cbr attach-agent $udp
    $ns at $opt(cross_from_s) "$cbr start"
    $ns at $opt(cross_to_s) "$cbr stop"
}

proc report {} {
    global sender monitor trace
    close $trace
    puts "sent [$sender set ndatapack_]"
    puts "drops [$monitor set pdrops_]"
    exit 0
}
$ns at $opt(duration_s) report
$ns run
